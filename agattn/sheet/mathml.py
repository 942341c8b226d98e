r"""Formulas in LaTeX as MathML Core, which browsers set without a script and without a network.

latex2mathml converts; what it writes that browsers do not set well is mended here.

>>> mathml("d^2").partition(">")[2]
'<mrow><msup><mi>d</mi><mn>2</mn></msup></mrow></math>'
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from html import escape
from pathlib import Path
from xml.etree import ElementTree

#: The letters and signs of Latin Modern Math 1.959 that formulas need, so that brackets stretch everywhere.
#: Pages name it "agattn Math". By B. Jackowski, P. Strzelczyk and P. Pianowski, under the GUST Font License.
#:
#: :meta hide-value:
FONT = Path(__file__).with_name("math.woff")
_ALPHABETS = {"double-struck": "DOUBLE-STRUCK", "script": "SCRIPT", "fraktur": "FRAKTUR"}
_LETTER = re.compile(rf'<mi mathvariant="({"|".join(_ALPHABETS)})">([A-Za-z])</mi>')
_TEXT = re.compile(r"\\text\{[^{}]*\}")
_SPACE = '<mspace width="0.28em"/>'
_BAR = r'<mrow style="border-top: 0.07em solid; padding-top: 0.1em">\1</mrow>'
_MENDED = tuple(
    (re.compile(wrong), right)
    for wrong, right in (
        # A bar that does not stretch, primes raised twice, names and arrows without space.
        (r'<mo accent="true">&#x02015;</mo>', '<mo accent="true" stretchy="true">&#x0203E;</mo>'),
        (r"<msup>(<mi>.</mi>)<mi>&#x02032;</mi></msup>", r'\1<mo lspace="0" rspace="0">&#x02032;</mo>'),
        (r"((?:>.|;)</mi>|</mn>)(<mi>(?:log|exp|det)</mi>)", r'\1<mspace width="0.17em"/>\2'),
        (
            r"(?<!<ms..>)<mi>(dim|deg|log|exp|det)</mi>(?!<mo[^>]*>&#x00028;|</mrow></math>)",
            r'<mrow><mi>\1</mi><mspace width="0.17em"/></mrow>',
        ),
        (r"<mo(| stretchy=.false.)>&#x000(2F|7C);</mo>", r'<mo\1 lspace="0" rspace="0">&#x000\2;</mo>'),
        (r"<m[io]>(&#x027F9;|&#x027FA;|&#x021D4;|&#x021D2;)</m[io]>", rf"{_SPACE}<mo>\1</mo>{_SPACE}"),
        (r"<mover>(<mrow>(?:(?!mover).)*<mo (?:(?!mover).)*</mrow>)<mo [^>]*>&#x0203E;</mo></mover>", _BAR),
        (r"<mover>(<mrow>(?:(?!</?mrow>).)*</mrow>|<mi>.</mi>)<mo[^>]*>&#x0203E;</mo></mover>", _BAR),
        # The name of a function is no operator: a thin space after it, none before it or before a bracket.
        (r"(?<=<msub>)<mo[^>]*>([a-z]{2,})</mo>", r"<mi>\1</mi>"),
        (r"<mo[^>]*>([a-z]{2,})</mo>(?=<mo[^>]*>&#x00028;)", r"<mi>\1</mi>"),
        (r"<mo[^>]*>([a-z]{2,})</mo>", r'<mrow><mi>\1</mi><mspace width="0.17em"/></mrow>'),
        # A prime is raised already.
        (
            r"<msubsup>(<mi>.</mi>)(<mi>.</mi>|<mn>.</mn>)<mi>&#x02032;</mi></msubsup>",
            r'<msub><mrow>\1<mo lspace="0" rspace="0">&#x02032;</mo></mrow>\2</msub>',
        ),
        # A transposition is no relation.
        (r"<mo>&#x022A4;</mo>", r"<mi>&#x022A4;</mi>"),
        (r"<mi>&#x0003A;</mi>", r'<mo lspace="0.17em" rspace="0.28em">:</mo>'),
    )
)
#: A formula of more letters than these may be broken, after these signs.
_LONG, _BREAKS = 24, {*",=≠<>≤≥≡≅⊂⊆→↦∪+−⊕⊗⟹⟺⇔⇒"}


def mathml(latex: str, display: str = "inline") -> str:
    r"""LaTeX as MathML; what cannot be converted is shown as it is, as code.

    Args:
        latex: a formula, without dollars.
        display: ``"inline"`` or ``"block"``.

    >>> mathml(r"\mathfrak S \mathcal M \mathbb C").partition(">")[2]
    '<mrow><mi>𝔖</mi><mi>ℳ</mi><mi>ℂ</mi></mrow></math>'
    """
    from latex2mathml.converter import convert

    # MathML Core knows no sans-serif letters; a transposition is written with the upright sign.
    plain = latex.replace(r"\mathsf T", r"\top").replace(r"\mathsf{T}", r"\top")
    plain = plain.replace(r"\perp", r"\bot")  # the same sign, and the one of the font
    plain = _TEXT.sub(lambda match: escape(match[0], quote=False), plain)  # the converter does not
    try:
        converted: str = convert(plain, display=display)
    except Exception:  # the converter raises many kinds of errors
        return f"<code>{escape(latex)}</code>"
    converted = _LETTER.sub(_letter, converted)
    for wrong, right in _MENDED:
        converted = wrong.sub(right, converted)
    return converted


def _letter(match: re.Match[str]) -> str:
    """A letter of another alphabet as a character of its own: browsers know no alphabets but upright."""
    name = f"{_ALPHABETS[match[1]]} {'CAPITAL' if match[2].isupper() else 'SMALL'} {match[2].upper()}"
    for known in (f"MATHEMATICAL {name}", name.replace("FRAKTUR", "BLACK-LETTER")):
        with contextlib.suppress(KeyError):
            return f"<mi>{unicodedata.lookup(known)}</mi>"
    return match[2]


def foldable(formula: str) -> str:
    """A long formula as several in a row, between which a line can end: after commas, relations and signs.

    Browsers break no formula themselves. Brackets stay whole, and so does a sign before its number.

    Args:
        formula: as :func:`mathml` gives it.

    >>> foldable(mathml("a = (b + c), " * 6)).count("<math ")
    12
    >>> foldable(mathml("|a + b|, " * 12)).count("<math ")
    12
    """
    opening, _, rest = formula.partition("><mrow>")
    if not rest:
        return formula
    row = ElementTree.fromstring("<mrow>" + rest.removesuffix("</math>"))
    if len("".join(row.itertext())) <= _LONG:
        return formula
    pieces, inside, bars, before, outside, ends = [""], 0, 0, ",", True, False
    for node in row:
        letters = "".join(node.itertext()).strip()
        if letters and (ends or (node.tag == "mtext" and outside)):
            pieces.append("")
            ends = False
        pieces[-1] += ElementTree.tostring(node, encoding="unicode")
        leaf = node[0] if node.tag in ("msup", "msub", "msubsup") else node  # of ")^2" the bracket
        sign = leaf.text or ""
        inside += (sign in ("(", "[", "{", "⟨")) - (sign in (")", "]", "}", "⟩"))
        bars += sign in ("|", "‖")
        outside = inside == 0 and bars % 2 == 0
        if node.tag == "mo" and letters in _BREAKS and before not in _BREAKS and outside:
            ends = True
        before = letters or before
    return "<wbr/>".join(f"{opening}><mrow>{piece}</mrow></math>" for piece in pieces if piece)
