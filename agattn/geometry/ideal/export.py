"""The equations of a neuromanifold as a file that Macaulay2, Singular, sympy or a JSON reader loads.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.ideal.ideal import compute_ideal
>>> print(export(compute_ideal(SingleLayer(2, 1, 1), 2), "macaulay2"), end="")
-- Ideal of M(2,1,1) to degree 2: 3 quadrics
-- All minimal generators up to this degree; each module opens with its highest weight vector.
S = QQ[y_(1,1,1,1), y_(1,1,1,2), y_(1,1,2,2), y_(1,2,1,1), y_(1,2,1,2), y_(1,2,2,2)]
I = ideal(
  -- S(2)⊗S(1,1)⊗S(3,1): 2×2 minors of the flattening with rows b: the columns of A span at most 1 dimensions
  -y_(1,1,1,2)*y_(1,2,1,1) + y_(1,1,1,1)*y_(1,2,1,2),
  -y_(1,1,2,2)*y_(1,2,1,1) + y_(1,1,1,1)*y_(1,2,2,2),
  -y_(1,1,2,2)*y_(1,2,1,2) + y_(1,1,1,2)*y_(1,2,2,2))
"""

from __future__ import annotations

import json
from collections.abc import Callable

from agattn.algebra.polynomial import Polynomial, PolynomialRing
from agattn.errors import InputError
from agattn.geometry.ideal.equations import EquationModule
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.ideal.torus_weights import list_coordinates
from agattn.geometry.variety.coordinates import coordinate_ring

#: The formats by name, each with the mark that opens a comment.
FORMATS = {"macaulay2": "--", "singular": "//", "sympy": "#", "json": ""}


def export(ideal: Ideal, form: str, characteristic: int = 0) -> str:
    """All minimal generators found, as text in one of the :data:`FORMATS`.

    Args:
        ideal: the ideal up to a degree.
        form: ``"macaulay2"``, ``"singular"``, ``"sympy"`` or ``"json"``.
        characteristic: for Macaulay2 and Singular, the field: 0 for ℚ, or a prime.

    Returns:
        A script that defines a ring S and the ideal I in it, for sympy a Python module with the lists
        ``symbols`` and ``equations``, for JSON one document with exponents and coefficients of every term.

    Raises:
        InputError: if there is no such format.
        TooLargeError: if there are too many coordinates or equations to write out.
    """
    if form not in FORMATS:
        raise InputError(f"there is no format {form!r}; use one of {', '.join(FORMATS)}")
    list_coordinates(ideal.layer)  # refuses a layer with too many coordinates
    ring = coordinate_ring(ideal.layer)
    polynomials = [(module, [equation.polynomial(ring) for equation in module]) for module in ideal]
    if form == "json":
        return json.dumps(_document(ideal, ring, polynomials), ensure_ascii=False, indent=1) + "\n"
    mark = FORMATS[form]
    header = [
        f"{mark} {ideal}",
        f"{mark} All minimal generators up to this degree; each module opens with its highest weight vector.",
    ]
    if form == "macaulay2":
        field = f"ZZ/{characteristic}" if characteristic else "QQ"
        names = ", ".join(v.macaulay2() for v in ring.variables)
        body = _listing(polynomials, mark, Polynomial.macaulay2)
        lines = [f"S = {field}[{names}]", *(["I = ideal(", body + ")"] if body else ["I = ideal(0_S)"])]
    elif form == "singular":
        names = ",".join(v.singular() for v in ring.variables)
        body = _listing(polynomials, mark, Polynomial.singular)
        lines = [
            f"ring S = {characteristic},({names}),dp;",
            *(["ideal I =", body + ";"] if body else ["ideal I = 0;"]),
        ]
    else:
        names = " ".join(v.name for v in ring.variables)
        body = _listing(polynomials, mark, _python)
        assigned = ", ".join(v.name for v in ring.variables)
        lines = [
            "import sympy",
            "",
            f'symbols = [{assigned}] = sympy.symbols("{names}", seq=True)',
            "equations = [",
            *([body + ","] if body else []),
            "]",
        ]
    return "\n".join([*header, *lines]) + "\n"


def _listing(
    polynomials: list[tuple[EquationModule, list[Polynomial]]], mark: str, show: Callable[[Polynomial], str]
) -> str:
    """The polynomials one on each line, separated by commas, with a comment before each module."""
    last = sum(len(members) for _, members in polynomials)
    lines, count = [], 0
    for module, members in polynomials:
        lines.append(f"  {mark} {module}" + (f": {module.name}" if module.name else ""))
        for polynomial in members:
            count += 1
            lines.append(f"  {show(polynomial)}" + ("," if count < last else ""))
    return "\n".join(lines)


def _python(polynomial: Polynomial) -> str:
    """The polynomial as a Python expression in the names of its variables."""
    pieces = []
    for exponents, coefficient in polynomial.terms.items():
        factors = [str(coefficient)]
        factors += [
            v.name + (f"**{e}" if e > 1 else "")
            for v, e in zip(polynomial.ring.variables, exponents, strict=True)
            if e
        ]
        pieces.append("*".join(factors))
    return " + ".join(pieces).replace("+ -", "- ")


def _document(
    ideal: Ideal, ring: PolynomialRing, polynomials: list[tuple[EquationModule, list[Polynomial]]]
) -> dict[str, object]:
    return {
        "architecture": ideal.layer.as_json(),
        "max_degree": ideal.max_degree,
        "coordinates": [list(v.indices) for v in ring.variables],
        "modules": [
            {
                "degree": module.degree,
                "highest_weight": [list(part) for part in module.shapes],
                "name": module.name,
                "equations": [
                    [[int(c), _sparse(e)] for e, c in polynomial.terms.items()] for polynomial in members
                ],
            }
            for module, members in polynomials
        ],
    }


def _sparse(exponents: tuple[int, ...]) -> list[list[int]]:
    """Pairs of a coordinate's position and its exponent."""
    return [[position, e] for position, e in enumerate(exponents) if e]
