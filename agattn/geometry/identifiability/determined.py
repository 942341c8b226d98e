"""What the function of a model says about its parameters: the table, as results that describe themselves.

>>> row = Determined("K", 6, 4, Determination.NOT, None, None, (), *[Evidence.PROVED] * 2, 0, "moves")
>>> print(row)
K: not determined, 4 of 6 entries are free (proved)
>>> row.as_json()["status"]
'not'
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

from agattn.architectures.forms import STUDIED, Studied
from agattn.architectures.normalizer import raised
from agattn.evidence import Evidence
from agattn.geometry.identifiability.discrete import DiscreteSymmetry
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import PROVED_OR_MODULAR, Count, Key, Positive, Probability, Result


class Determination(Enum):
    """Whether the function of a model determines some of its parameters.

    ``UNDECIDED`` occurs at given weights only, where ranks do not decide.
    """

    GLOBALLY = "globally"
    LOCALLY = "locally"
    PARTLY = "partly"
    NOT = "not"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        return self.value


#: Up to what something is determined.
UpTo = Literal["factor", "sign", "root", "permutation"] | None
#: What has a factor of its own.
FactorOf = Literal["all", "matrix", "row", "column"] | None

_WORDS = {
    Determination.GLOBALLY: "determined globally",
    Determination.LOCALLY: "determined locally",
    Determination.PARTLY: "determined in part",
    Determination.NOT: "not determined",
    Determination.UNDECIDED: "undecided",
}


class Determined(Result):
    """Whether the function of a model determines one array, or one function of the arrays."""

    name: Key[str, "The name of the array, or the function as it is printed."]
    entries: Key[Positive, "The number of entries of the array or function."]
    free: Key[
        Count,
        "In how many directions it moves while the function stays: so many entries can be chosen. At given"
        " weights a number that is not proved is a lower bound.",
    ]
    status: Key[
        Determination,
        "`globally`, `locally`, `partly` if some entries are determined, `not` if none is; up to `up_to`."
        " `undecided` occurs at given weights only.",
    ]
    up_to: Key[
        UpTo,
        "Up to what it is determined: a `factor`; a `sign`; a `root` of unity; a `permutation`. Null where"
        " nothing is known that changes it, and where it is not determined, or only in part.",
    ]
    factor_of: Key[
        FactorOf,
        "Of a `factor` what has one of its own: `all` of it has one, or each `matrix`, `row` or `column`.",
    ]
    changed_by: Key[
        tuple[str, ...], "The finite symmetries that change the array or function, beyond factors."
    ]
    evidence: Key[Evidence, "How the status is known.", PROVED_OR_MODULAR]
    free_evidence: Key[Evidence, "How the number of free entries is known.", PROVED_OR_MODULAR]
    determined: Key[Count, "The number of entries that are determined one by one."]
    reason: Key[str, "The argument, in words."]

    @property
    def is_determined(self) -> bool:
        """Whether it is determined, up to what ``up_to`` says."""
        return self.status in (Determination.GLOBALLY, Determination.LOCALLY)

    @property
    def extent(self) -> str:
        """Up to what it is determined, in words; empty where nothing is known that changes it."""
        words = {
            "factor": "a factor" if self.factor_of == "all" else f"a factor for each {self.factor_of}",
            "root": "a root of unity",
        }
        said = words.get(self.up_to or "", f"a {self.up_to}" if self.up_to else "")
        if self.up_to != "factor" or not self._is_permuted:
            return said
        return f"{said}, and {'a permutation' if self.factor_of == 'all' else 'their order'}"

    @property
    def _is_permuted(self) -> bool:
        return any(one.startswith("permutations") for one in self.changed_by)

    @property
    def _short(self) -> str:
        """The extent in a narrow column; lines below the table say more."""
        if self.up_to != "factor":
            return self.extent or "–"
        return f"{'a factor' if self.factor_of == 'all' else 'factors'}{', order' * self._is_permuted}"

    def summary(self) -> str:
        """The status in a line."""
        up_to = f" up to {self.extent}" if self.up_to else ""
        free = f", {self.free} of {self.entries} entries are free" if not self.is_determined else ""
        return f"{self.name}: {_WORDS[self.status]}{up_to}{free} ({self.evidence})"

    def cells(self) -> tuple[Cell, ...]:
        """The row of a table."""
        up_to, evidence = self._short, Word(str(self.evidence))
        free = (
            str(self.free) if self.free_evidence is Evidence.PROVED else f"{self.free} ({self.free_evidence})"
        )
        return self.name, self.entries, free, str(self.status), up_to, evidence, self.reason


class DeterminedFunction(Determined):
    """Whether the function of a model determines a product, a sum or another function of its arrays."""

    expression: Key[str, "The function, as `--functions` reads it."] = ""


class CommonFactor(Result):
    """What changes by powers of one factor."""

    names: Key[tuple[str, ...], "Arrays and functions."]
    exponents: Key[tuple[int, ...], "The exponent of the factor for each."]
    evidence: Key[Evidence, "How the exponents are known.", PROVED_OR_MODULAR]

    def summary(self) -> str:
        """The names with their factors."""
        parts = (f"{name} by {_power(k)}" for name, k in zip(self.names, self.exponents, strict=True))
        return f"one common factor s: {', '.join(parts)} ({self.evidence})"


def _power(exponent: int) -> str:
    return "s" if exponent == 1 else f"s{raised(exponent)}"


class KnownSymmetries(Result):
    """The symmetries that an answer uses."""

    dimension: Key[
        Count, "The dimension of the orbits of the connected group of linear symmetries that is known."
    ]
    discrete: Key[tuple[DiscreteSymmetry, ...], "Finite groups of symmetries beyond this group."]


_HEADINGS = ("", "entries", "free", "determined", "up to", "evidence", Wide("why"))


class Identifiability(Result, name="identifiability"):
    """Which parameters of a model its function determines, and up to what.

    A row of ``parameters`` or ``functions`` can be taken by its name: ``found["K_1"]``.
    """

    architecture: Key[Studied, STUDIED]
    parameters: Key[tuple[Determined, ...], "The parameter arrays."]
    functions: Key[
        tuple[DeterminedFunction, ...],
        "Products of arrays that the model contracts with each other, then the functions that were named.",
    ]
    fiber_dimension: Key[
        Count,
        "The dimension of the set of weights with one function, near the weights. At given weights a number"
        " that is not proved is a lower bound.",
    ]
    fiber_evidence: Key[Evidence, "How the dimension of the fiber is known.", PROVED_OR_MODULAR]
    symmetries: Key[KnownSymmetries, "The symmetries that are known."]
    common_factors: Key[tuple[CommonFactor, ...], "Arrays and functions that change by powers of one factor."]
    theorem: Key[str | None, "The id of the theorem behind `globally`; null if there is none."]
    at_weights: Key[bool, "Whether the answers are about given weights; else about general weights."]
    error: Key[Probability, "If something is modular: a bound on the chance that a rank fell short; else 0."]
    field: Key[
        Literal["CC"],
        "The field: complex weights. `locally`, `partly` and `not` are the same over the reals.",
    ] = "CC"
    decided_by: Key[str | None, "Of a softmax network: the jet that decides, and why; else null."] = None

    def __getitem__(self, name: str) -> Determined:
        for row in (*self.parameters, *self.functions):
            if _plain(name) == _plain(row.name):
                return row
        raise KeyError(name)

    @property
    def is_proved(self) -> bool:
        """Whether every row is proved."""
        return all(row.evidence is Evidence.PROVED for row in (*self.parameters, *self.functions))

    def summary(self) -> str:
        """What is determined, and what is not."""
        rows = [*self.parameters, *self.functions]
        known: dict[str, list[str]] = {}
        for row in rows:
            if row.is_determined:
                how = f"determined {row.status}{f' up to {row.extent}' if row.extent else ''}"
                known.setdefault(how, []).append(row.name)
        told = [f"{how}: {', '.join(names)}" for how, names in known.items()]
        about = f"{self.architecture.name}, {self._where}: {self._fiber}"
        return "; ".join([about, *(told or ["determined: nothing listed"])])

    @property
    def _where(self) -> str:
        """The weights about which the rows speak, in words."""
        return "at the weights" if self.at_weights else "at general weights"

    @property
    def _fiber(self) -> str:
        """The dimension of the fiber in words."""
        at_least = "at least " * (self.at_weights and self.fiber_evidence is not Evidence.PROVED)
        return f"the fiber has dimension {at_least}{self.fiber_dimension} ({self.fiber_evidence})"

    def sheet(self) -> Sheet:
        """A table of the arrays, and one of the functions."""
        about = f"what the function determines {self._where}, over ℂ"
        title = f"{self.architecture.name}: {about}; {self._fiber}"
        parts: list[Table | Note] = [_table("Arrays", "array", self.parameters)]
        if self.functions:
            parts.append(_table("Functions of the arrays", "function", self.functions))
        rows = [*self.parameters, *self.functions]
        lines = [f"{row.name}: up to {row.extent}" for row in rows if row.cells()[4] != (row.extent or "–")]
        lines += [str(one) for one in self.common_factors]
        lines += [f"finite symmetries: {one}" for one in self.symmetries.discrete]
        if self.theorem:
            lines.append(f"globally: general fibers are irreducible, by {self.theorem}")
        if self.decided_by:
            lines.append(f"decided by a jet: {self.decided_by}")
        if self.error:
            lines.append(f"modular: wrong with probability below {self.error:.1e}")
        return Sheet(title, (*parts, *([Note("\n".join(lines))] if lines else [])))


def _plain(text: str) -> str:
    """A function without spaces, and with one sign for what has two."""
    for one, other in ((" ", ""), ("−", "-"), ("ᵀ", "^T"), ("Σ_", "sum_"), ("**", "⊗")):
        text = text.replace(one, other)
    return text


def _table(caption: str, first: str, rows: Any) -> Table:
    return Table(caption, (first, *_HEADINGS[1:-1]), tuple(row.cells()[:-1] for row in rows))
