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
import re
import uuid
from collections.abc import Callable

from agattn.algebra.polynomial import Polynomial, PolynomialRing, Variable
from agattn.errors import InputError
from agattn.geometry.ideal.equations import EquationModule
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal, MultidegreeEquations
from agattn.geometry.ideal.torus_weights import list_coordinates

#: The formats by name: the mark that opens a comment, how variables and polynomials are written, and what
#: stands between variables.
FORMATS: dict[str, tuple[str, Callable[[Variable], str], Callable[[Polynomial], str], str]] = {
    "macaulay2": ("--", Variable.macaulay2, Polynomial.macaulay2, ", "),
    "singular": ("//", Variable.singular, Polynomial.singular, ","),
    "sympy": ("#", lambda variable: variable.name, Polynomial.python, ", "),
    "latex": ("%", Variable.latex, lambda f: _display(f), ""),
}
#: The format that the ending of a file's name says.
ENDINGS = {
    ".m2": "macaulay2",
    ".sing": "singular",
    ".mrdi": "mrdi",
    ".py": "sympy",
    ".tex": "latex",
    ".json": "json",
}

#: The equations as polynomials, by the groups that the ideal has them in.
Groups = list[tuple[EquationModule | MultidegreeEquations, list[Polynomial]]]


def _display(f: Polynomial) -> str:
    """The equation f = 0 in LaTeX's ``align``, four terms on a line."""
    terms = re.split(r" (?=[+-] )", f.latex())
    rows = [" ".join(terms[n : n + 4]) for n in range(0, len(terms), 4)]
    return "&" + " \\\\\n  &\\quad ".join(rows) + " = 0"


def export(ideal: Ideal | ModelIdeal, form: str, characteristic: int = 0) -> str:
    """All minimal generators found, as text in one of the :data:`FORMATS` or as JSON.

    For Macaulay2 and Singular it is a script that defines a ring S, over ℚ or of a prime ``characteristic``,
    and the ideal I in it; for ``"sympy"`` a Python module with the lists ``symbols`` and ``equations``; for
    ``"latex"`` displayed equations for a paper that loads amsmath; for ``"json"`` one document with exponents
    and coefficients of every term; for ``"mrdi"`` the format of OSCAR, in Macaulay2's namespace.

    Raises:
        InputError: if there is no such format.
        TooLargeError: if there are too many coordinates or equations to write out.
    """
    if form not in (*FORMATS, "json", "mrdi"):
        raise InputError(f"there is no format {form!r}; use one of {', '.join(FORMATS)}, json, mrdi")
    if isinstance(ideal, Ideal):
        list_coordinates(ideal.layer)  # refuses a layer with too many coordinates
    ring = ideal.ring
    polynomials: Groups = [
        (module, [equation.polynomial(ring) for equation in module]) for module in ideal.generators
    ]
    if form == "json":
        return _as_json(ideal, ring, polynomials) + "\n"
    if form == "mrdi":
        return _as_mrdi(ring, [f for _, members in polynomials for f in members]) + "\n"
    mark, name, show, separator = FORMATS[form]
    names = separator.join(map(name, ring.variables))
    between = " \\\\\n" if form == "latex" else ",\n"
    pieces = []
    for module, members in polynomials:
        said = f": {module.name}" if isinstance(module, EquationModule) and module.name else ""
        comment = f"  {mark} {module}{said}"
        pieces.append(f"{comment}\n  " + f"{between}  ".join(map(show, members)))
    lines = _definition(form, names, between.join(pieces), characteristic)
    if isinstance(ideal, Ideal):
        about = [
            "All minimal generators up to this degree; each module opens with its highest weight vector."
        ]
    else:
        what = zip(ring.variables, ideal.legend.values(), strict=True)
        about = ["All minimal generators up to this degree.", *(f"{name(v)}: {said}" for v, said in what)]
    return "\n".join([f"{mark} {ideal}", *(f"{mark} {line}" for line in about), *lines]) + "\n"


def _definition(form: str, names: str, body: str, characteristic: int) -> list[str]:
    """The lines that define the ring and the ideal in one of the :data:`FORMATS`."""
    if form == "macaulay2":
        field = f"ZZ/{characteristic}" if characteristic else "QQ"
        return [f"S = {field}[{names}]", f"I = ideal(\n{body})" if body else "I = ideal(0_S)"]
    if form == "singular":
        defined = f"ideal I =\n{body};" if body else "ideal I = 0;"
        return [f"ring S = {characteristic},({names}),dp;", defined]
    if form == "latex":
        return [r"\begin{align*}", body, r"\end{align*}"] if body else ["% none"]
    made = f'symbols = [{names}] = sympy.symbols("{names.replace(",", "")}", seq=True)'
    return ["import sympy", "", made, "equations = [", *([body + ","] if body else []), "]"]


def _as_json(ideal: Ideal | ModelIdeal, ring: PolynomialRing, polynomials: Groups) -> str:
    """One JSON document; a term is a coefficient and pairs of a coordinate's position and its exponent."""
    if isinstance(ideal, Ideal):
        known: dict[str, object] = {"architecture": ideal.architecture.as_json()}
    else:
        known = {"architecture": ideal.source.architecture.as_json(), "meaning": [*ideal.legend.values()]}
    modules = [
        {
            "degree": module.degree,
            **_about(module),
            "equations": [
                [[int(c), [[n, e] for n, e in enumerate(key) if e]] for key, c in f.terms.items()]
                for f in members
            ],
        }
        for module, members in polynomials
    ]
    coordinates = [list(v.indices) for v in ring.variables]
    document = {**known, "max_degree": ideal.max_degree, "coordinates": coordinates, "modules": modules}
    return json.dumps(document, ensure_ascii=False, indent=1)


def _as_mrdi(ring: PolynomialRing, polynomials: list[Polynomial]) -> str:
    """An ideal over ℚ in the format .mrdi, as Macaulay2 1.26.05 writes and reads it.

    Macaulay2 reads back no names with brackets, but names such as y'1'1'1'2.
    """
    names = ["'".join([variable.letter, *map(str, variable.indices)]) for variable in ring.variables]
    reference = str(uuid.uuid5(uuid.NAMESPACE_OID, ",".join(names)))
    field = {"_type": "Ring", "data": "QQ"}
    data = [
        [[[str(e) for e in key], [str(int(c)), "1"]] for key, c in f.primitive().terms.items()]
        for f in polynomials
    ]
    document = {
        "_ns": {"Macaulay2": ["https://macaulay2.com", "1.26.05"]},
        "_type": {"name": "Ideal", "params": reference},
        "data": data,
        "_refs": {
            reference: {
                "_type": {"name": "PolynomialRing", "params": field},
                "data": {"variables": names},
            }
        },
    }
    return json.dumps(document)


def _about(group: EquationModule | MultidegreeEquations) -> dict[str, object]:
    if isinstance(group, MultidegreeEquations):
        return {"multidegree": list(group.multidegree)}
    return {"highest_weight": [list(part) for part in group.shapes], "name": group.name}
