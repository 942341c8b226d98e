r"""Singular and critical points of the neuromanifold of any architecture, kind by kind, with the reason.

A catalogue gives kinds of weights (:mod:`~agattn.geometry.singular_points.kinds`); the cascade of
:mod:`~agattn.geometry.singular_points.arguments` says of each whether the closure M̄ is singular at its
function:

- *singular* or *smooth*: an argument proves it, or shows it modulo a prime;
- *smooth branch*: at some preimage the differential has rank dim M̄; other branches of M̄ may pass through;
- *undecided*: no argument says anything.

>>> from agattn import DeepNetwork
>>> found = singularities(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> print(found)
M(2,2,1; 2,2), t = 2: dimension 8; 30 kinds of points: 26 singular, 4 smooth
>>> found["rk V_1 = 1"]
rk V_1 = 1: differential of rank 6 of 8, tangent space of dimension 8 or more: singular (proved)
>>> len(found), [point.name for point in found][:3]
(30, ['generic', 'rk M_1 = 1', 'M_1 symmetric'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from agattn.algebra.arithmetic import Array
from agattn.architectures import Architecture, as_attention
from agattn.architectures.layered import Layered, check_arrays
from agattn.architectures.model_file import STUDIED, Studied
from agattn.architectures.network import DeepNetwork
from agattn.errors import InputError
from agattn.evidence import Evidence, ProvedOrModular, weakest
from agattn.geometry.closedness.question import LimitSet, OutsideLimits
from agattn.geometry.closedness.several_heads import HeadsLimit
from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.singular_points.arguments import (
    ArgumentName,
    Closure,
    Conclusion,
    Decision,
    Inquiry,
    ModelClosure,
    NetworkClosure,
)
from agattn.geometry.singular_points.kinds import Kind, kinds
from agattn.geometry.variety.coefficient_map import MOST_DEGREE
from agattn.limits import check_sizes, limits, steps, takes
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide, Word, matrix
from agattn.sheet.result import Count, Key, Meta, Named, Result, Written, key


def _matrices(preimages: Sequence[dict[str, Array]]) -> list[dict[str, list[list[str]]]]:
    """Weights as matrices by name, one below the other where there are several; numbers as text."""

    def rows(array: Array) -> list[list[str]]:
        return [list(map(str, row)) for row in array.reshape(-1, (1, *array.shape)[-1])]

    return [{name: rows(array) for name, array in weights.items()} for weights in preimages]


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
    rank_evidence: Key[ProvedOrModular, "How it is known that `differential_rank` is no larger."]
    preimages: Key[
        tuple[dict[str, Array], ...],
        "Preimages at which tangent vectors were taken; the first are weights of this kind.",
        Named("witness"),
        Written(list[dict[str, list[list[str]]]], _matrices),
    ]
    tangent_upper: Key[
        Count | None, "The Zariski tangent space has at most this dimension, by equations; null without any."
    ]
    tangent_evidence: Key[ProvedOrModular, "How `tangent_lower` is known.", Named("tangent_lower_evidence")]
    zero_evidence: Key[ProvedOrModular, "How it is known whether the function is 0."]
    critical_evidence: Key[ProvedOrModular, "How `critical` is known."]
    fiber_evidence: Key[
        ProvedOrModular, "How `fiber_dimension_at_most` is known.", Named("fiber_dimension_at_most_evidence")
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


#: Architectures with more parameters are not asked about without ``force``.
MOST_PARAMETERS = 300
#: Nor networks with more layers, nor those with more kinds of points.
MOST_LAYERS, MOST_KINDS = 5, 500
#: What is said of a closure that is all of the space.
AFFINE = "M̄ is an affine space, smooth everywhere."


@takes("seed", "force", "progress")
def singularities(network: Architecture, pairs: bool = False) -> Singularities:
    """The kinds of points of a network or a model: which are critical, which singular, and by what argument.

    A kind is weights with something special about them: ranks of the matrices or of the virtual weights M_i
    and L, symmetric or skew ones, shared vectors, kernels that meet, zero. For a model the kinds are arrays
    of lower rank, arrays with zero or equal rows and columns, and equal heads. At integer weights of each
    kind the rank of the differential is found exactly, the fiber is bounded from both sides, and tangent
    vectors of the closure are collected at all known preimages. More independent tangent vectors than the
    dimension prove that the point is singular. A differential of the largest rank proves a smooth branch.
    Otherwise the point is undecided.

    Args:
        network: a lightning network, where a layer is the network of one layer; or anything polynomial.
        pairs: take all pairs of what may be special about one matrix, too.
        seed: of all random choices. It never changes what is proved, only what is found.

    Raises:
        InputError: if it is normalized.
        TooLargeError: beyond the limits on sizes.

    Source: docs/networks/deep-singularities-proofs.md and docs/networks/model-points-proofs.md.

    See Also:
        :func:`agattn.strata`, :func:`agattn.tangent_space`, :func:`agattn.critical_points`; ``agattn
        singularities`` in a shell.

    >>> import agattn as ag
    >>> kinds = ag.singularities(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    >>> kinds["rk M_1 = 1"]
    rk M_1 = 1: differential of rank 19 of 22, tangent space of dimension 29 or more: singular (proved)
    >>> ag.singularities(ag.Network([ag.Linear(2), ag.Linear(3)], dim=3))["rk W_1 = 1"]
    rk W_1 = 1: differential of rank 7 of 8, tangent space of dimension 9 or more: singular (proved)
    """
    architecture, seed = as_attention(network), limits().seed
    deep = architecture.as_network()
    of = deep or architecture
    _check_sizes(of, deep)
    first = kinds(of, pairs)
    check_sizes(str(of), (len(first), "kinds of points", MOST_KINDS))
    closure = closure_of(of)
    points = []
    chosen = closure.chosen(lambda n: kinds(of, pairs, seed=seed + n) if n else first)
    for kind in steps(chosen, len(first), lambda kind: kind.name):
        points.append(facts(kind, closure))
    closed, sentence, beyond = closure.closedness()
    words = f"{AFFINE} {sentence}" if closure.is_affine else sentence
    return Singularities(architecture, closure.known, tuple(points), closed, words, beyond)


def _check_sizes(architecture: Architecture, network: DeepNetwork | None) -> None:
    """Refuse what is no polynomial, and what is large."""
    if network is None and architecture.degree is None:
        raise InputError(f"{architecture} is normalized; kinds of points are those of polynomial models")
    check_sizes(
        architecture.name[:80],
        (network.depth if network else 0, "layers", MOST_LAYERS),
        (architecture.parameters, "parameters", MOST_PARAMETERS),
        (architecture.degree or 0, "as its degree", MOST_DEGREE),
    )
    if isinstance(architecture, Layered) and not limits().force:
        check_arrays(architecture)


def closure_of(architecture: Architecture) -> Closure:
    """What is found once of an architecture, before its points are asked about.

    Args:
        architecture: a lightning network or layer, or any other polynomial model.

    >>> from agattn import SingleLayer
    >>> closure = closure_of(SingleLayer(2, 1))
    >>> closure.dimension, [argument.__name__ for argument in closure.arguments][-2:]
    (5, ['theorems', 'immersion'])
    """
    network = architecture.as_network()
    if network is None:
        return ModelClosure.of(architecture)
    return NetworkClosure.of(network)


def facts(kind: Kind, closure: Closure) -> PointFacts:
    """What is known at weights of one kind: every argument is asked, and the strongest answer counts.

    Args:
        kind: the weights.
        closure: of the same architecture, by :func:`closure_of`.

    Raises:
        AssertionError: if two arguments prove opposite things.

    >>> from agattn import SingleLayer
    >>> layer = SingleLayer(2, 1)
    >>> facts({kind.name: kind for kind in kinds(layer)}["rk M_1 = rk L = 1"], closure_of(layer)).argument
    'several branches'
    """
    inquiry = Inquiry(kind, closure)
    answers = [answer for argument in closure.arguments if (answer := argument(inquiry)) is not None]
    answer = _strongest(answers, inquiry)
    closure.tangents.forget()
    here, rank, preimages = inquiry.here, inquiry.ranks[0], tuple(at.exact() for at in inquiry.preimages)
    return PointFacts(
        inquiry.kind,
        inquiry.is_zero,
        rank,
        inquiry.fiber,
        closure.dimension,
        inquiry.tangent_lower,
        *answer,
        here.evidence,
        preimages,
        inquiry.tangent_upper,
        inquiry.tangent_evidence,
        inquiry.zero_evidence,
        _critical_evidence(rank, closure, here.evidence),
        inquiry.fiber_evidence,
    )


def _strongest(answers: Sequence[Decision], inquiry: Inquiry) -> Decision:
    """The first answer that is proved, else the first; one about a branch only where nothing else is said."""
    deciding = [answer for answer in answers if answer.conclusion != "smooth branch"]
    proved = [answer for answer in deciding if answer.evidence is Evidence.PROVED]
    conclusions = {answer.conclusion for answer in proved}
    assert len(conclusions) < 2, f"{inquiry.kind.name}: arguments prove {' and '.join(sorted(conclusions))}"
    undecided = Decision("undecided", "none", inquiry.tangent_evidence)
    return [*proved, *deciding, *answers, undecided][0]


def _critical_evidence(rank: int, closure: Closure, rank_evidence: Evidence) -> Evidence:
    """How it is known whether a rank, proved to be no smaller, is below dim M̄, which is at least observed."""
    if rank < closure.dimension:
        return rank_evidence
    return Evidence.PROVED if rank == closure.at_most else Evidence.MODULAR
