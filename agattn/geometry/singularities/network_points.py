r"""Singular and critical points of the neuromanifold of a network, kind by kind, with the reason for each.

At weights w of φ: w ↦ f the rank of the differential is found exactly, and the fiber is bounded from both
sides: from below by symmetries and by families of weights with one function, from above by the differential,
or by its second derivative. The Zariski tangent space of the closure M̄ at f contains the image of the
differential at *every* preimage of f, and the second derivatives along arcs whose first one vanishes:
with v in the kernel, φ(w + εv + ε²u) = f + ε²(½ d²φ(v, v) + dφ(u)) + …, so that d²φ(v, v') is tangent for any
two vectors of the kernel, modulo the image. All vectors are taken at common inputs and cotangents, and their
rank modulo a prime is a proved lower bound.

- *singular*: more independent tangent vectors than dim M̄, which has a proved upper bound.
- *smooth branch*: at some preimage the differential has rank dim M̄. Then it has this rank nearby, and the
  functions of all weights near this preimage form a manifold of dimension dim M̄. Other branches of M̄ may
  pass through f; if one of another tangent space is found, f is singular.
- *smooth*, or *singular* by purity: by the theorems of the page on deep singularities (:func:`by_theorem`).
- *undecided*: none of these.

>>> from agattn import DeepNetwork
>>> found = singularities(DeepNetwork((2, 2, 1), (2, 2), t=2))
>>> print(str(found).partition("; 27 ")[2])
kinds of points: 21 singular, 4 smooth, 2 smooth on their branch
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import fraction, kernel_basis, rational_rank
from agattn.architectures import Architecture, DeepNetwork, SingleLayer
from agattn.architectures.network import check_tokens
from agattn.architectures.protocol import as_parameters
from agattn.errors import TooLargeError
from agattn.evidence import Evidence, Shown
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.identifiability.virtual_weights import partial_products
from agattn.geometry.singularities.brackets import largest_rank
from agattn.geometry.singularities.families import Vector, Weights, widest_family
from agattn.geometry.singularities.kinds import Kind, kinds, virtual
from agattn.geometry.singularities.limits import LimitSet, is_closed, limits, vanishes
from agattn.geometry.singularities.network_fibers import pairing
from agattn.geometry.singularities.several_heads import HeadsLimit, closedness, is_one_layer
from agattn.geometry.singularities.tangents import Tangents
from agattn.geometry.singularities.virtual_points import is_wide, settled

if TYPE_CHECKING:
    from agattn.records import Argument

#: Networks with more parameters are not asked about without ``force``.
MOST_PARAMETERS = 300
#: Nor those with more layers, or with more kinds of points.
MOST_LAYERS, MOST_KINDS = 5, 500
_FORCE = "Use --force to start all the same"
#: How often numbers are drawn anew while the generic weights are critical.
_ATTEMPTS = 5

Conclusion = Literal["singular", "smooth", "smooth branch", "undecided"]


@dataclass(frozen=True, repr=False)
class PointFacts(Shown):
    """What is known at weights of one kind.

    Attributes:
        kind: the weights.
        is_zero: whether f = 0.
        differential_rank: the rank of dφ at the weights; where several factorizations KᵀQ were tried, the
            largest.
        fiber: bounds on the local dimension of the fiber at the weights, in K, Q and V; the lower one is
            proved, the upper one where ``rank_evidence`` is proved or it is the parameters minus the rank.
        dimension: of M̄.
        tangent_lower: a lower bound on the dimension of the Zariski tangent space of M̄ at f.
        singular: what follows.
        argument: from what.
        evidence: of the conclusion; of the tangent vectors if it is undecided.
        rank_evidence: of the rank being no larger: it is proved to be no smaller.
        preimages: the weights at which images of the differential were taken, as arrays by name.
        tangent_upper: a proved upper bound on the dimension of T_f M̄, by equations; ``None`` without any.
    """

    kind: Kind
    is_zero: bool
    differential_rank: int
    fiber: tuple[int, int]
    dimension: int
    tangent_lower: int
    singular: Conclusion
    argument: Argument
    evidence: Evidence
    rank_evidence: Evidence
    preimages: tuple[dict[str, Array], ...]
    tangent_upper: int | None = None

    @property
    def name(self) -> str:
        """What is special about the weights."""
        return self.kind.name

    @property
    def is_critical(self) -> bool:
        """Whether the differential drops rank at the weights."""
        return self.differential_rank < self.dimension

    def __str__(self) -> str:
        rank = f"differential of rank {self.differential_rank} of {self.dimension}"
        tangent = f"tangent space of dimension {self.tangent_lower} or more"
        return f"{self.name}: {rank}, {tangent}: {self.singular} ({self.evidence})"

    def as_json(self) -> dict[str, object]:
        """The facts with the keys of the command line's contract."""
        from agattn import records

        low, high = self.fiber
        matrices = [
            {name: array.reshape(-1, (1, *array.shape)[-1]) for name, array in weights.items()}
            for weights in self.preimages
        ]
        return records.document(
            records.Singularities.Kind, self,
            ranks=self.kind.ranks, zero=self.is_zero, critical=self.is_critical, fiber_dimension=low,
            fiber_dimension_at_most=high, witness=matrices,
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Singularities(Shown):
    """The kinds of points of a network or a model.

    Attributes:
        network: whose points they are, as it was given.
        dimension: of its neuromanifold.
        kinds: what is known at each.
        closed: whether the neuromanifold is closed; ``None`` where no theorem says.
        closedness: the same in a sentence.
        limits: limits of diverging weights that no weights reach, where such are known.
    """

    network: Architecture
    dimension: Dimension
    kinds: tuple[PointFacts, ...]
    closed: bool | None
    closedness: str
    limits: LimitSet | HeadsLimit | None

    @cached_property
    def zeros(self) -> list[str]:
        """The kinds of weights at which f = 0."""
        return [point.name for point in self.kinds if point.is_zero]

    def _limits(self) -> dict[str, object] | None:
        if self.limits is None:
            return None
        if isinstance(self.limits, LimitSet):
            return self.limits.as_json()
        at_most = self.dimension.upper_bound - 1
        return {"dimension": None, "at_most": at_most, "witness": self.limits.as_json()}

    def __getitem__(self, name: str) -> PointFacts:
        for point in self.kinds:
            if point.name == name:
                return point
        raise KeyError(name)

    def __str__(self) -> str:
        counts = Counter(point.singular for point in self.kinds)
        names = {"smooth branch": "smooth on their branch"}
        parts = [f"{counts[word]} {names.get(word, word)}" for word in get_args(Conclusion) if counts[word]]
        size = f"dimension {self.dimension.dimension}; {len(self.kinds)} kinds of points"
        return f"{self.dimension.computed_of}: {size}: {', '.join(parts)}"

    def as_json(self) -> dict[str, object]:
        """Everything with the keys of the command line's contract."""
        from agattn import records

        known = self.dimension
        return records.document(
            records.Singularities, self,
            architecture=self.network, dimension=known.dimension, dimension_evidence=known.evidence,
            limits=self._limits(),
        )  # fmt: skip


def singularities(
    architecture: SingleLayer | DeepNetwork,
    pairs: bool = False,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Singularities:
    """The kinds of points of a network, and what is known at each.

    Args:
        architecture: a lightning network; a layer is taken as the network of one layer.
        pairs: take all pairs of what may be special about one matrix, too.
        seed: of all random choices. It never changes what is proved, only what is found.
        force: start although the network is large.
        progress: called with the name of each kind.

    Raises:
        InputError: if it is a normalized network, or one whose V have a bounded rank.
        TooLargeError: if it has more parameters, layers, kinds or tokens than the limits.
    """
    network = architecture.as_network()
    most_of = ((network.layers, "layers", MOST_LAYERS), (network.parameters, "parameters", MOST_PARAMETERS))
    for number, what, most in () if force else most_of:
        if number > most:
            raise TooLargeError(
                f"{network.arguments[:80]} has {number} {what}; the limit is {most}. {_FORCE}"
            )
    if not force:
        check_tokens(network)
    known = dimension(network, seed, force=True)
    at_most = largest_rank(network, seed).value
    for attempt in range(_ATTEMPTS):  # small numbers can be special by chance
        found = kinds(network, pairs, seed + attempt)
        if len(found) > MOST_KINDS and not force:
            raise TooLargeError(
                f"{network} has {len(found)} kinds of points; the limit is {MOST_KINDS}. {_FORCE}"
            )
        generic = Weights(network, found[0].preimages[0])
        if Tangents(network, at_most, seed).rank_at(generic) == known.dimension:
            break
    points = []
    for kind in found:
        progress(kind.name)
        points.append(facts(kind, known.dimension, at_most, seed))
    return Singularities(architecture, known, tuple(points), *_closure(network, seed))


def _closure(network: DeepNetwork, seed: int) -> tuple[bool | None, str, LimitSet | HeadsLimit | None]:
    """Whether M is closed, in a word and in a sentence, and limits outside."""
    if is_one_layer(network):
        found = closedness(network)
        closed = {"closed": True, "not closed": False, "open": None}[found.status]
        if closed is None:
            return None, "Whether M is closed is open.", None
        shown = f" A limit outside: {found.limit}." if found.limit else ""
        return closed, f"M is {found.status} (proved). {found.reason}.{shown}", found.limit
    closed = is_closed(network)
    if closed is not False:
        return closed, "M is closed (proved)." if closed else "Whether M is closed is not known.", None
    outside = limits(network, seed)
    low, high, i = outside.dimension, outside.upper_bound, outside.first
    size = f"dimension {low}" if low == high else f"dimension {low} to {high}"
    return (
        False,
        f"M is not closed (proved). Diverging weights, where M_{i} tends to rank 1 and M_{i + 1} to a skew "
        f"matrix, have limits that no weights reach, of {size}.",
        outside,
    )


def facts(kind: Kind, dim: int, at_most: int, seed: int = 0) -> PointFacts:
    """What is known at weights of one kind.

    Args:
        kind: the weights.
        dim: the dimension of M̄.
        at_most: a proved upper bound of it.
        seed: of all random choices.
    """
    network = kind.architecture
    tangents = Tangents(network, at_most, seed)
    points = [Weights(network, weights) for weights in kind.preimages]
    ranks = [tangents.rank_at(point) for point in points]
    differential = max(ranks)
    at = points[ranks.index(differential)]
    n, orbit, invisible = len(at.vector), at.orbit_dimension(), _invisible(at)
    fiber, kernel = at.orbit_dimension(invisible), tangents.kernel_found(at, invisible)
    is_zero, evidence = _is_zero(at, tangents)
    more: tuple[Vector, ...] = ()
    if kernel < n - differential and differential < at_most and not is_zero:
        family = widest_family(at, n - differential, 0, seed)
        if family.evidence is Evidence.PROVED:
            fiber, more = max(fiber, family.dimension), family.directions
            kernel = max(kernel, tangents.kernel_found(at, [*invisible, *family.directions]))
    fiber_at_most = n - differential
    exact = kernel == n - differential or differential == at_most
    argument: Argument
    if is_zero and not (isinstance(network, DeepNetwork) and network.skip):
        found, preimages, argument = tangents.span_of_functions(), points[:1], "cone"
    else:
        moving = [(point, _invisible(point)) for point in points] + [(at, more)]
        preimages, found = tangents.preimages(points, moving)
        argument, evidence = "tangent vectors", Evidence.PROVED
        if not invisible and not more and sum(r == dim for r in ranks) > 1:
            argument = "several branches"
        if found <= at_most and fiber < n - differential:
            second, immersed = tangents.second_order(at, preimages, differential)
            if immersed:
                fiber = fiber_at_most = orbit
            if second > found:
                found, argument = second, "second order"
                evidence = Evidence.PROVED if exact else Evidence.MODULAR
    conclusion: Conclusion = "undecided"
    if found > at_most:
        conclusion = "singular"
    elif differential == at_most:
        conclusion, argument, evidence = "smooth branch", "immersion", Evidence.PROVED
    else:
        argument = "none"
    theorem = None if is_zero else by_theorem(at, exact and differential < dim)
    if theorem is not None and (conclusion != "singular" or evidence is not Evidence.PROVED):
        (conclusion, argument), evidence = theorem, Evidence.PROVED
    assert theorem is None or theorem[0] == conclusion, (
        f"{kind.name}: more tangent vectors than a theorem allows"
    )
    return PointFacts(
        kind, is_zero, differential, (fiber, fiber_at_most), dim, found, conclusion, argument, evidence,
        Evidence.PROVED if exact else Evidence.MODULAR, tuple(point.exact() for point in preimages),
    )  # fmt: skip


def by_theorem(at: Weights, is_critical: bool) -> tuple[Conclusion, Argument] | None:
    """What the theorems of the page on deep singularities say of a function that is not 0, or ``None``.

    Args:
        at: integer weights.
        is_critical: whether they, and all others with the same (M, L), are proved to be. Where all (M, L) are
            virtual weights, d_0 ≥ 3 and t ≥ 2, M̄ is singular there (Theorem 3); used if a_i ≥ d_{i−1}, so
            that some weights move (M, L) in all directions. All else is in
            :func:`~agattn.geometry.singularities.virtual_points.settled`.

    >>> network = DeepNetwork((3, 3, 2), (3, 3), t=2)
    >>> for kind in kinds(network)[:2]:
    ...     print(kind.name, by_theorem(Weights(network, kind.preimages[0]), False))
    generic ('smooth', 'one-point fiber')
    rk M_1 = 1 ('singular', 'purity')
    """
    network, given = at.architecture, virtual(at.architecture, at.exact())
    if not isinstance(network, DeepNetwork) or given is None:
        return None
    if (found := settled(network, *given)) is not None:
        return "singular" if found[0] else "smooth", found[1]
    full = all(a >= d for a, d in zip(network.ranks, network.dims, strict=False))
    if is_critical and full and is_wide(network) and network.dims[0] >= 3 and network.t >= 2:
        return "singular", "purity"
    return None


def _is_zero(at: Weights, tangents: Tangents) -> tuple[bool, Evidence]:
    """Whether f = 0: no if it has another value modulo a prime; yes by what the virtual weights say."""
    if tangents.values(at.residues(tangents.p)[0][None]).any():
        return False, Evidence.PROVED
    given = virtual(at.architecture, at.exact())
    return True, Evidence.PROVED if given and vanishes(*given, at.architecture.t) else Evidence.MODULAR


def _invisible(at: Weights) -> list[Vector]:
    """Directions that change no function: a basis of a linear space of them.

    Q_j may change M_j by a skew matrix, for all j after the first M_i of rank one: the tokens after layer i
    are parallel, and see the symmetric part of M_j alone. At one token this is so for all j. If Q_i = 0 or
    V_i = 0, everything else may change.
    """
    network, weights, n = at.architecture, at.exact(), len(at.vector)
    if (given := virtual(network, weights)) is None:
        return []
    l, numbers = len(given[0]), as_parameters(network, np.arange(n))
    for name, array in weights.items():
        if name[0] in "QV" and not array.any():
            return at.units(np.delete(np.arange(n), numbers[name]).tolist())
    low = (i for i, M in enumerate(given[0], 1) if rational_rank(M) == 1)
    before = partial_products([weights[f"V_{i}"][0] for i in range(1, l + 1)])
    result = []
    for j in range(1 + (0 if network.t == 1 else next(low, l)), l + 1):
        for basis in kernel_basis(pairing(weights[f"K_{j}"][0] @ before[j - 1], before[j - 1], skew=True)):
            result.append(at.with_only(**{f"Q_{j}": np.array(list(map(fraction, basis)), dtype=object)}))
    return result
