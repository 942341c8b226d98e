"""What is known at weights of one kind, and of all kinds of an architecture: the results.

:func:`~agattn.geometry.singular_points.singularities.singularities` finds them.

>>> from agattn import DeepNetwork
>>> from agattn.geometry.singular_points.singularities import singularities
>>> found = singularities(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> found["rk V_1 = 1"]
rk V_1 = 1: differential of rank 6 of 8, tangent space of dimension 8 or more: singular (proved)
>>> len(found), [point.name for point in found][:3]
(30, ['generic', 'rk M_1 = 1', 'M_1 symmetric'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from agattn.algebra.arithmetic import Array
from agattn.architectures.forms import STUDIED, Studied
from agattn.evidence import Evidence, weakest
from agattn.geometry.closedness.limits import LimitSet, OutsideLimits
from agattn.geometry.closedness.several_heads import HeadsLimit
from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.singular_points.kind import Kind
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word, matrix
from agattn.sheet.result import PROVED_OR_MODULAR, Count, Key, Meta, Named, Result, Written, key

Conclusion = Literal["singular", "smooth", "smooth branch", "undecided"]
#: From what it may follow whether a point of the closure is singular.
ArgumentName = Literal[
    "tangent vectors",
    "several branches",
    "second order",
    "cone",
    "purity",
    "one-point fiber",
    "immersion",
    "affine space",
    "equations",
    "none",
]


def _matrices(preimages: Sequence[dict[str, Array]]) -> list[dict[str, list[list[str]]]]:
    """Weights as matrices by name, one below the other where there are several; numbers as text."""
    return [
        {
            name: [list(map(str, row)) for row in array.reshape(-1, (1, *array.shape)[-1])]
            for name, array in weights.items()
        }
        for weights in preimages
    ]


class PointFacts(Result):
    """What is known at weights of one kind.

    Each number has its own evidence, as one may be proved and the next not.

    Attributes:
        kind: the weights; the first of its preimages are those that rank and fiber are about.
        fiber: bounds on the local dimension of the fiber over ℂ at the weights, in K, Q and V.
        dimension: of M̄.
    """

    kind: Kind
    is_zero: Key[bool, "Whether the function of these weights is 0.", Named("zero")]
    differential_rank: Key[
        Count,
        "The rank of the differential at the first witness, proved to be no smaller; the largest where "
        "several factorizations KᵀQ of the same A were tried.",
    ]
    fiber: tuple[int, int]
    dimension: int
    tangent_lower: Key[Count, "The Zariski tangent space of the closure has at least this dimension."]
    singular: Key[Conclusion, "What follows for the function of these weights."]
    argument: Key[
        ArgumentName,
        "From what it follows: more tangent vectors than the dimension, at all preimages known, at "
        "several immersed ones, along arcs of second order, or at the vertex of the cone; a theorem, for "
        "wide networks; a differential of the largest rank; a closure that is an affine space; or "
        "equations of the closure with enough independent differentials.",
    ]
    evidence: Key[
        Evidence,
        "How the conclusion is known, or `tangent_lower` if the point is undecided; other numbers have keys "
        "of their own.",
    ]
    rank_evidence: Key[Evidence, "How it is known that `differential_rank` is no larger.", PROVED_OR_MODULAR]
    preimages: Key[
        tuple[dict[str, Array], ...],
        "Preimages at which tangent vectors were taken; the first are weights of this kind.",
        Named("witness"),
        Written(list[dict[str, list[list[str]]]], _matrices),
    ]
    tangent_upper: Key[
        Count | None, "The Zariski tangent space has at most this dimension, by equations; null without any."
    ]
    tangent_evidence: Key[
        Evidence, "How `tangent_lower` is known.", Named("tangent_lower_evidence"), PROVED_OR_MODULAR
    ]
    zero_evidence: Key[Evidence, "How it is known whether the function is 0.", PROVED_OR_MODULAR]
    critical_evidence: Key[Evidence, "How `critical` is known.", PROVED_OR_MODULAR]
    fiber_evidence: Key[
        Evidence,
        "How `fiber_dimension_at_most` is known.",
        Named("fiber_dimension_at_most_evidence"),
        PROVED_OR_MODULAR,
    ]

    @key
    def name(self) -> str:
        """What is special about the weights."""
        return self.kind.name

    @key
    def ranks(self) -> dict[str, tuple[Count, ...]]:
        """The ranks of all A and V, head by head, and of the M_i and L; of a model those of all matrices."""
        return self.kind.ranks

    @key(name="critical")
    def is_critical(self) -> bool:
        """Whether the rank of the differential is smaller than the dimension."""
        return self.differential_rank < self.dimension

    @key
    def fiber_dimension(self) -> Count:
        """The local dimension of the fiber there, over the complex numbers, proved to be no less."""
        return self.fiber[0]

    @key
    def fiber_dimension_at_most(self) -> Count:
        """The dimension of the fiber is no larger."""
        return self.fiber[1]

    def summary(self) -> str:
        """The rank, the tangent space and what follows."""
        rank = f"differential of rank {self.differential_rank} of {self.dimension}"
        tangent = f"tangent space of dimension {self.tangent_lower} or more"
        return f"{self.name}: {rank}, {tangent}: {self.singular} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The numbers, each with its evidence, and the weights."""
        rank = f"rank {self.differential_rank} of {self.dimension}"
        low, high = self.fiber
        rows: list[tuple[Cell, ...]] = [
            ("differential", rank, Word(str(self.rank_evidence))),
            ("fiber", f"dimension {_interval(low, high)}", Word(str(self.fiber_evidence))),
            ("tangent space", f"dimension {self.tangent_lower} or more", Word(str(self.tangent_evidence))),
            ("point", Word(self.singular), Word(str(self.evidence))),
            *(
                (name, matrix(array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]), "")
                for name, array in self.preimages[0].items()
            ),
        ]
        return Sheet(self.summary(), (Table(f"{self.name}: {self.argument}", (), tuple(rows), where="page"),))

    def cells(self, generic: int) -> tuple[Cell, ...]:
        """The row of a table of kinds; ``generic`` is the dimension of a general fiber."""

        def marked(shown: Cell, evidence: Evidence) -> Cell:
            """With a star where the evidence is weaker than that in the row."""
            return shown if weakest([evidence, self.evidence]) is self.evidence else f"{shown}*"

        (low, high), upper = (n - generic for n in self.fiber), self.tangent_upper
        beyond = f"{low:+d}" if low == high else f"{low:+d} to {high}"
        tangent: Cell = self.tangent_lower
        if upper not in (None, tangent):
            tangent = f"{tangent} to {upper}"
        return (
            f"{self.name} ({marked('f = 0', self.zero_evidence)})" if self.is_zero else self.name,
            marked(self.differential_rank, self.rank_evidence),
            marked(beyond, self.fiber_evidence),
            marked(tangent, self.tangent_evidence),
            f"{self.singular}{f' ({self.argument})' * (self.singular == 'singular')}",
            Word(str(self.evidence)),
        )


def _interval(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


class Singularities(Result, name="singularities"):
    """The kinds of points of a network or a model.

    Attributes:
        closedness: whether the neuromanifold is closed, in a sentence.
        limits: limits of diverging weights that no weights reach, where such are known.
    """

    network: Key[Studied, STUDIED, Named("architecture")]
    dimension: Key[
        Dimension, "The dimension of the neuromanifold.", Written(Count, lambda known: known.observed)
    ]
    kinds: Key[tuple[PointFacts, ...], "One entry for each kind of points.", Meta(min_length=1)]
    closed: Key[bool | None, "Whether the neuromanifold is closed; null where no theorem says."]
    closedness: str
    limits: LimitSet | HeadsLimit | None

    @key
    def dimension_evidence(self) -> Evidence:
        """How the dimension is known."""
        return self.dimension.known

    @key(name="limits")
    def known_limits(self) -> OutsideLimits | None:
        """Limits of diverging weights; null where none are known."""
        limits = self.limits
        if isinstance(limits, HeadsLimit):
            return OutsideLimits(None, self.dimension.upper_bound - 1, limits.as_json())
        if limits is None:
            return None
        return OutsideLimits(limits.dimension, limits.upper_bound, limits.witness)

    @key
    def zeros(self) -> list[str]:
        """The names of the kinds of weights whose function is 0."""
        return [point.name for point in self.kinds if point.is_zero]

    def __getitem__(self, name: str) -> PointFacts:
        """What is known at the kind of this name.

        Raises:
            KeyError: if there is no such kind.
        """
        for point in self.kinds:
            if point.name == name:
                return point
        raise KeyError(name)

    def __iter__(self) -> Iterator[PointFacts]:
        """The kinds of points, in the order of the catalogue."""
        return iter(self.kinds)

    def __len__(self) -> int:
        """The number of kinds of points."""
        return len(self.kinds)

    @property
    def counted(self) -> str:
        """How many kinds of points are singular, smooth or undecided."""
        counts = Counter(point.singular for point in self.kinds)
        names = {"smooth branch": "smooth on their branch"}
        parts = [f"{counts[word]} {names.get(word, word)}" for word in get_args(Conclusion) if counts[word]]
        return f"{len(self.kinds)} kinds of points: {', '.join(parts)}"

    def summary(self) -> str:
        """The dimension, and how many kinds of points are singular, smooth or undecided."""
        return f"{self.dimension.computed_of}: dimension {self.dimension.dimension}; {self.counted}"

    def sheet(self) -> Sheet:
        """A row for each kind, what the columns mean, and whether the neuromanifold is closed."""
        bounded = any(point.tangent_upper is not None for point in self.kinds)
        legend = (
            f"rk dφ: the rank of the differential, {self.dimension.dimension} at general weights. fiber: its "
            "dimension over ℂ, beyond that of a general one. dim T ≥: independent tangent vectors of the "
            "closure at f, at all preimages known; more than the dimension prove f singular. smooth branch: "
            "the functions near these weights, or near others with this function, are a manifold of full "
            "dimension; other branches may pass through f. evidence: of what is said of f, and of dim T if f "
            "is undecided; a number with a star rests on ranks modulo a prime all the same."
        )
        if bounded:
            legend += " Equations of low degree bound dim T from above, and prove points smooth."
        tangent = "dim T" if bounded else "dim T ≥"
        headings = (Wide("kind of weights"), "rk dφ", "fiber", tangent, Wide("their function f"), "evidence")
        generic = self.network.parameters - self.dimension.observed
        rows = tuple(point.cells(generic) for point in self.kinds)
        table = Table(self.summary(), headings, rows)
        return Sheet(self.summary(), (table, Note(legend, folded=True), Note(self.closedness, folded=True)))
