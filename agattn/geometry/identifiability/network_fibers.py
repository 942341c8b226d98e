r"""The fiber through given weights of a model: everything known that computes the same function.

Of any polynomial model there are the orbit of its linear symmetries, and linear spaces of weights with one
function, which a search finds (:mod:`~agattn.geometry.identifiability.families`). More is known
of networks of attention with one head a layer. Let L_i = V_i ... V_1 and M_i = L_{i−1}ᵀA_iL_{i−1} be the
virtual weights; L is L_l.

- *Symmetries*: GL(a_i) in a head, (sA_i, V_i/s), GL(d_i) between layers (HMK, Lemma 3.1, equation 9).
- *Unseen*: what changes K_i, Q_i or V_i and neither M_i nor L_i, such as what they do off im L_{i−1}.
- *Skew*: if M_i = k qᵀ and i < l, all tokens after layer i are multiples of one vector u, and
  u wᵀ ↦ u wᵀw uᵀM_ju wᵀ sees the symmetric part of M_j alone, for every j > i. So M_j + S has the same
  function for skew S. With one token this is so from the first layer on.
- *Exchanged*: if M_l = k qᵀ and L = h vᵀ, also (v qᵀ, h kᵀ) (HMK, Theorem 3.2, for the last layer). Where
  tokens are parallel, v and a factor of the last uᵀM_mu that is no multiple of (v·u)² (fibers-proofs.md).
- *Zero*: A_i = 0, or V_i = 0, or rk A_i = 1 and A_j skew for a j > i, with all else free.
- *Collapsed*, of softmax networks: behind a layer that makes all tokens equal, all K_j and Q_j are free
  (:mod:`agattn.geometry.identifiability.virtual_weights`). Else a softmax network has no scalings, and of
  the other families only what leaves M_i and L as they are. Its differential has at least the rank of that of
  a jet.

Nothing is said to be all: a component has a proved lower bound on its dimension, by a count of equations or
by :mod:`~agattn.geometry.identifiability.families`, and near the given weights the dimension is at most the
number of weights minus the rank of the differential. It is equal to it where the differential has the largest
rank that it has anywhere, as its rank is then constant nearby. Where the two meet, the fiber is smooth there.
The fiber of one layer, all of which is known, is in
:mod:`agattn.geometry.identifiability.weights`.

>>> network = DeepNetwork((2, 2, 1), (2, 2), t=2)
>>> one = [[1, 0], [0, 1]]
>>> through = network_fiber(network, {"A_1": [[1, 2], [2, 4]], "A_2": [[1, 1], [0, 1]], "V_1": one,
...                                   "V_2": [[1, 3]]})
>>> through
rank-one head: 15 of 22 dimensions (proved), 14 by the symmetries; given: 1 skew
>>> moved = through.move(along=[5])
>>> moved["Q_2"].tolist(), through.contains(moved)
([[[1, -4], [5, 1]]], True)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import flint
import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.algebra.echelon import independent_rows, integer_kernel, rational_matrix, rational_rank
from agattn.algebra.scalars import flint_matrix, scalars
from agattn.architectures import Architecture, DeepNetwork, Jet, SingleLayer, as_attention
from agattn.architectures.model_file import STUDIED, Studied
from agattn.errors import InputError, TooLargeError, UndecidedError, worded
from agattn.evidence import Evidence, ProvedOrModular
from agattn.geometry.identifiability.families import (
    MOST_PARAMETERS,
    ExactWeights,
    Moved,
    Vector,
    rank_and_bound,
    same_function,
    widest_family,
    with_all_symmetries,
)
from agattn.geometry.identifiability.symmetries import SymmetryStep, act, connecting
from agattn.geometry.identifiability.virtual_weights import (
    MOST_LAYERS,
    PREPRINT,
    first_collapsed,
    is_covered,
    is_skew,
    least_order,
    partial_products,
    vanishes,
    virtual_ranks,
    virtual_weights,
)
from agattn.geometry.identifiability.weights import (
    Fiber,
    canonical_factors,
    factor_quadratic_form,
    inverse,
    rank_one,
    weights_of_layer,
)
from agattn.geometry.identifiability.weights import fiber as fiber_of_layer
from agattn.limits import takes
from agattn.sheet.data import Cell, Note, Sheet, Table, Wide
from agattn.sheet.result import Count, Key, Meta, Named, Positive, Probability, Result, Written, key

#: Random orders in which further families are looked for where the bounds do not meet.
_ORDERS = 4
_HEADINGS = ("component", "dimension ≥", "through", "directions", "free", Wide("parametrization"))


def _arrays(at: ExactWeights, vector: Vector | None = None) -> dict[str, Any]:
    """Arrays by name with exact numbers as text: the weights, or of a vector those that are not 0."""
    arrays = at.exact() if vector is None else {x: a for x, a in at.exact(vector).items() if a.any()}
    return {name: np.vectorize(str, otypes=[object])(a).tolist() for name, a in arrays.items()}


class Comparison(Result):
    """Whether two weights have one function, and how that is known.

    Equality is found by :func:`~agattn.geometry.identifiability.families.same_function`; symmetries that
    prove it, by :mod:`~agattn.geometry.identifiability.symmetries`.
    """

    equal: Key[bool, "Whether both compute the same function."]
    evidence: Key[
        ProvedOrModular,
        "How it is known that the functions are equal; that they are not equal is always proved.",
    ]
    error: Key[
        Probability,
        "If modular: a bound on the chance that the statement is wrong; else 0.",
        Named("error_probability"),
    ]
    symmetry: Key[
        tuple[SymmetryStep, ...] | None,
        "Known symmetries whose product connects them; null if none are found.",
    ] = None

    def summary(self) -> str:
        """Whether the functions are equal, and by what."""
        text = f"{'the same' if self.equal else 'another'} function ({self.evidence})"
        if self.symmetry is None:
            return f"{text}; no known symmetry was found" if self.equal else text
        return f"{text}, by {'; '.join(map(str, self.symmetry)) or 'the same weights'}"


class Directions(Result, eq=False):
    """Vectors of weights along which the function stays: all their sums with those of a component do."""

    at: ExactWeights
    name: Key[
        Literal["skew", "unseen", "zero", "found"],
        "`skew` adds a skew matrix to a virtual weight, `unseen` changes none, `zero` keeps KᵀQ as "
        "the component's name says, `found` came from a search.",
    ]
    layer: Key[Positive | None, "The layer to which the directions belong; null for `found`."]
    vectors: tuple[Vector, ...]

    @key(name="vectors")
    def arrays(self) -> list[dict[str, Any]]:
        """Of each direction the arrays that are not 0, exact, as text."""
        return [_arrays(self.at, vector) for vector in self.vectors]

    def summary(self) -> str:
        """How many there are."""
        return f"{len(self.vectors)} {self.name}"


class NetworkComponent(Result, eq=False):
    """A family of weights with the same function as given weights: a linear space, moved by the symmetries.

    Attributes:
        constant_rank: whether its dimension is known because the differential has the largest rank there, and
            is not spanned by the symmetries and the directions.
    """

    name: Key[str, "`given`, `exchanged`, or of the function 0 what is 0, such as `V_2 = 0`."]
    parametrization: Key[str, "The component in words."]
    weights: Key[
        ExactWeights,
        "A point of the component: arrays by name, with one axis for heads, as text.",
        Written(dict[str, Any], _arrays),
    ]
    directions: Key[tuple[Directions, ...], "What may be added to this point, jointly."]
    free: Key[tuple[str, ...], "Arrays that may be anything."]
    dimension: Key[
        Count, "A lower bound on the dimension of the component, in all weights: K, Q and V, not A."
    ]
    through: Key[bool, "Whether the component is a family through the given weights."]
    constant_rank: bool = False
    dimension_evidence: Key[ProvedOrModular, "How the dimension of the component is known."] = Evidence.PROVED

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The vectors of all directions, in their order."""
        return tuple(v for part in self.directions for v in part.vectors)

    def summary(self) -> str:
        """Its name, and how many directions of which kind it has."""
        parts = ", ".join(map(str, self.directions))
        if self.constant_rank:
            parts += f"{', ' if parts else ''}of constant rank"
        parts = parts or "nothing but the symmetries"
        return self.name if self.free else f"{self.name}: {parts}"

    def cells(self) -> tuple[Cell, ...]:
        """The row of a table of components."""
        through, directions = "yes" if self.through else "no", ", ".join(map(str, self.directions))
        weaker = "" if self.dimension_evidence is Evidence.PROVED else f" ({self.dimension_evidence})"
        dimension = f"{self.dimension}{weaker}"
        return self.name, dimension, through, directions, ", ".join(self.free), self.parametrization


class NetworkFiber(Result, name="fiber", eq=False):
    """All that is known of the weights that have the same function as given weights."""

    architecture: Key[Studied, STUDIED]
    case: Key[
        Literal["symmetries", "rank-one head", "zero", "one token", "collapsed"],
        "`rank-one head`: after a head of rank one tokens are parallel; `zero`: the function is 0; "
        "`collapsed`: a softmax layer makes all tokens equal.",
    ]
    components: Key[tuple[NetworkComponent, ...], "The components that are known.", Meta(min_length=1)]
    parameters: Key[Positive, "The number of weights."]
    orbit_dimension: Key[Count, "A lower bound on the dimension of the orbit of the symmetries."]
    differential_rank: Key[
        Count, "A lower bound, proved, on the rank of the differential, almost surely equal to it."
    ]
    evidence: Key[ProvedOrModular, "How it is known that the function is the same along all directions."]
    error: Key[
        Probability,
        "If modular: a bound on the chance that the statement is wrong; else 0.",
        Named("error_probability"),
    ] = 0.0
    symmetries: Key[tuple[Moved, ...], "The dimension of the orbit by what moves the weights."] = ()
    case_evidence: Key[ProvedOrModular, "How the case is known, which may be that the function is 0."] = (
        Evidence.PROVED
    )

    equivalent: Key[Comparison | None, "The comparison with the weights of `--other`; null without."] = None
    elsewhere: Key[
        str | None, "Of a softmax network: what is known of weights that are not near the given ones."
    ] = None

    @property
    def weights(self) -> ExactWeights:
        """The given weights."""
        return self.components[0].weights

    @property
    def _named(self) -> Architecture:
        """What the fiber is called by: a softmax network, of which the weights are those of a jet."""
        return self.weights.architecture if self.elsewhere is None else self.architecture

    @key
    def dimension(self) -> Count:
        """A lower bound on the dimension of the fiber at the weights, in the space of all weights."""
        return self._widest.dimension

    @key
    def dimension_evidence(self) -> ProvedOrModular:
        """How the lower bound on the dimension is known."""
        return self._widest.dimension_evidence

    @property
    def _widest(self) -> NetworkComponent:
        return max((c for c in self.components if c.through), key=lambda c: c.dimension)

    @key
    def upper_bound(self) -> Count:
        """A proved upper bound: the weights less the rank of the differential."""
        return self.parameters - self.differential_rank

    @property
    def is_exact(self) -> bool:
        """Whether the bounds meet: then the fiber is smooth at the weights, and its dimension is known."""
        return self.dimension == self.upper_bound

    @key
    def generic(self) -> bool:
        """Whether near the weights there is nothing but symmetries, and no other component."""
        return self.orbit_dimension == self.upper_bound and len(self.components) == 1

    @property
    def bounds(self) -> str:
        """The dimension, or both bounds on it."""
        return f"{self.dimension}" if self.is_exact else f"{self.dimension} to {self.upper_bound}"

    def summary(self) -> str:
        """The case, the dimension and the components."""
        parts = "; ".join(map(str, self.components))
        return (
            f"{self.case}: {self.bounds} of {self.parameters} dimensions ({self.dimension_evidence}), "
            f"{self.orbit_dimension} by the symmetries; {parts}"
        )

    def sheet(self) -> Sheet:
        """A row for each component, and the bounds on the dimension with their reasons."""
        caption = (
            f"Fiber of {self._named} ({self.case}): dimension {self.bounds} of "
            f"{self.parameters} at the weights ({self.dimension_evidence}), "
            f"{self.orbit_dimension} by the symmetries"
        )
        rows = tuple(component.cells() for component in self.components)
        bounds = "" if self.is_exact else f"from {self.dimension} to "
        names = ", ".join(f"{moved.name} {moved.dimension}" for moved in self.symmetries)
        orbit = f"the symmetries have {self.orbit_dimension}{f' ({names})' if names else ''}"
        above = f"{self.parameters} weights less the rank {self.differential_rank} of the differential"
        if isinstance(of := self.weights.architecture, Jet) and self.elsewhere is not None:
            above += f" of the jet of order {of.order}"
        at = f"dimension at the weights {bounds}{self.upper_bound}: {orbit}, and it is at most {above}"
        note = Note("\n".join(filter(None, (at, self.elsewhere))))
        title = f"{self._named}, {self.parameters} weights: {self.case} ({self.case_evidence})"
        return Sheet(title, (Table(caption, _HEADINGS, rows), note))

    def move(
        self,
        component: int = 0,
        along: Sequence[Any] = (),
        symmetries: Mapping[int, Any] | None = None,
        **arrays: Any,
    ) -> dict[str, Array]:
        """Other weights with the same function, as exact arrays by name.

        Args:
            component: its number, from 0.
            along: a number for each vector of its directions, in order; missing ones are 0.
            symmetries: for the number of one of the network's ``symmetries`` an invertible matrix of its
                size, or for a scaling a number s ≠ 0.
            arrays: of those that are ``free`` on the component, such as ``V_2=[[1, 2]]``.

        Raises:
            InputError: if there is no such component, array or symmetry, or a matrix has no inverse.
        """
        if not 0 <= component < len(self.components):
            raise InputError(f"there is no component {component}; the fiber has {len(self.components)}")
        chosen = self.components[component]
        vectors = chosen.vectors
        if len(along) > len(vectors):
            raise InputError(
                f"along has {len(along)} numbers; component {component} has {len(vectors)} directions"
            )
        steps = scalars(list(along), "along").tolist() if along else []
        moved = chosen.weights.at(chosen.weights.along(vectors, list(map(Fraction, steps)))).exact()
        for name, given in arrays.items():
            if name not in chosen.free:
                listed = ", ".join(chosen.free) or "none"
                raise InputError(f"{name} is not free on the component {chosen.name}; free are: {listed}")
            array = _exact(given, name)
            moved[name] = array.reshape(moved[name].shape) if array.size == moved[name].size else array
        network = chosen.weights.architecture
        for number, given in (symmetries or {}).items():
            if not 0 <= number < len(network.symmetries):
                raise InputError(f"there is no symmetry {number}; {network} has {len(network.symmetries)}")
            symmetry = network.symmetries[number]
            g = _exact(given, f"symmetry {number}")
            g = g.reshape(1, 1) if g.size == 1 else g
            if g.shape != (symmetry.size, symmetry.size):
                raise InputError(
                    f"symmetry {number} is {symmetry.name}; give a matrix of size {symmetry.size}"
                )
            back = inverse(g)
            if back is None:
                raise InputError(f"the matrix for symmetry {number}, {symmetry.name}, has no inverse")
            if symmetry.is_orthogonal and (back != g.T).any():
                raise InputError(f"the matrix for symmetry {number}, {symmetry.name}, is not orthogonal")
            act(moved, symmetry, g, back)
        return ExactWeights(network, moved).exact()

    @takes("seed")
    def contains(self, other: Mapping[str, Any]) -> bool:
        """Whether other weights of the same architecture have the same function.

        Raises:
            InputError: if they are not its weights.
        """
        return self.compare(other).equal

    @takes("seed")
    def compare(self, other: Mapping[str, Any]) -> Comparison:
        """The same, with its evidence: "no" is always proved."""
        given = weights_of(self.weights.architecture, other)
        if self.elsewhere is not None:
            return _compared(self.weights, given)
        equal, evidence, error = same_function(self.weights, given)
        steps = connecting(self.weights, given) if equal else None
        if steps is None:
            return Comparison(equal, evidence, error)
        return Comparison(True, Evidence.PROVED, 0.0, steps)


def weights_of(architecture: Architecture, given: Any) -> ExactWeights:
    """Exact weights of an architecture.

    Args:
        architecture: a polynomial one; of all but networks of attention the weights are arrays by name.
        given: arrays by name, K_1, Q_1, V_1, ..., or A_i in place of K_i and Q_i; of one head each may be a
            matrix. Or a sequence with those of each layer, named K, Q or A, and V.

    Raises:
        InputError: if weights are missing or do not fit, or an A_i has a rank above a_i.
    """
    if isinstance(given, ExactWeights):
        given = given.exact()
    network = architecture.network if isinstance(architecture, Jet) else architecture
    is_deep = isinstance(network, DeepNetwork)
    if is_deep and isinstance(given, Sequence) and all(isinstance(layer, Mapping) for layer in given):
        given = {f"{letter}_{i}": a for i, layer in enumerate(given, 1) for letter, a in layer.items()}
    if not isinstance(network, DeepNetwork) or not isinstance(given, Mapping):
        return ExactWeights(architecture, given)
    named = dict(given)
    sizes = zip(network.dims, network.ranks, network.heads_by_layer, strict=False)
    for i, (d, a, heads) in enumerate(sizes, 1):
        if f"A_{i}" not in named or {f"K_{i}", f"Q_{i}"} & set(named):
            continue
        A, shape = _exact(named.pop(f"A_{i}"), f"A_{i}"), (d, d) if heads == 1 else (heads, d, d)
        if A.shape not in (shape, (heads, d, d)):
            raise InputError(f"A_{i} has the shape {A.shape}; it must be {shape}")
        K, Q = np.full((2, heads, a, d), Fraction(0))
        for n, head in enumerate(A.reshape(heads, d, d)):
            if a >= d:
                K[n, :d], Q[n, :d] = np.eye(d, dtype=int).astype(object), head
            elif (rank := rational_rank(head)) > a:
                raise InputError(f"A_{i} has rank {rank}, above a_{i} = {a}")
            else:
                K[n], Q[n] = canonical_factors(head, a)
        named[f"K_{i}"], named[f"Q_{i}"] = K, Q
    return ExactWeights(architecture, named)


@takes("seed")
def fiber(
    architecture: Architecture, weights: Any, *, tolerance: float | None = None
) -> Fiber | NetworkFiber:
    """The weights with the function of given weights: all of them for one layer, else those that are known.

    Args:
        architecture: one layer, a lightning network, a softmax network with one head in each layer and
            without skip connections, or anything polynomial.
        weights: of a layer from :func:`agattn.weights`, or a mapping with V and A, or K, Q and V; of a
            network a mapping with K_1, Q_1, V_1, K_2, ..., or A_i in place of K_i and Q_i; of anything else
            an array for each parameter. They are taken as the exact numbers that are written.
        tolerance: for one layer with floats: singular values below this, relative to the largest, count as 0;
            by default below what their type, such as float32, can tell from 0.
        seed: of all random choices; for one layer there are none. It never changes what is proved, only what
            is found.

    Raises:
        InputError: for a layer with t = 1, another normalized network, or weights of another architecture.
        TooLargeError: if there are more than 3000 weights, or more than three softmax layers.

    See Also:
        :func:`agattn.equivalent`, :func:`agattn.weights`, :func:`agattn.dimension`,
        :func:`agattn.symmetries`; ``agattn fiber`` in a shell.

    >>> import agattn as ag
    >>> through = ag.fiber(ag.SingleLayer(2, 1, a=1), {"K": [[1, 2]], "Q": [[0, 1]], "V": [[1, 0]]})
    >>> through
    two lines (proved), in M: components over ℂ rescaling, swapped; dimension 1 in (A, V), 2 in (K, Q, V)
    >>> head = {"A_1": [[1, 2], [2, 4]], "V_1": [[1, 0], [0, 1]], "A_2": [[1, 1], [0, 1]], "V_2": [[1, 3]]}
    >>> ag.fiber(ag.DeepNetwork((2, 2, 1), (2, 2), t=2), head)
    rank-one head: 15 of 22 dimensions (proved), 14 by the symmetries; given: 1 skew
    >>> dead = {"W_1_1": [[1, 2, 0], [1, 1, 5], [3, 1, 1]], "W_1_2": [[1, 0, -1]]}
    >>> ag.fiber(ag.Network([ag.Perceptron([3, 1], degree=3)], dim=3), dead)
    symmetries: 5 of 12 dimensions (proved), 3 by the symmetries; given: 2 found
    """
    if not isinstance(architecture, SingleLayer):
        return network_fiber(architecture, weights)
    if not architecture.has_orbits:
        raise InputError("t is 1, where only V and A + Aᵀ matter; fibers are known for t ≥ 2")
    return fiber_of_layer(weights_of_layer(architecture, weights), tolerance)


def network_fiber(architecture: Architecture, given: Any) -> NetworkFiber:
    """The fiber through weights of a network or a model, as far as it is known.

    Args:
        architecture: any that is polynomial, or a softmax network. The named families are those of networks
            of attention with one head in each layer without skip connections; of others there are the
            symmetries, all linear ones where there are at most 80 weights, and what a search finds.
        given: as :func:`weights_of` reads them; floats are the rational numbers that they stand for.

    Raises:
        InputError: if the weights do not fit, or the architecture is normalized otherwise.
        TooLargeError: if it has more than 3000 weights, or more than three softmax layers.

    >>> from agattn.architectures import Network, Perceptron
    >>> sums = Network([Perceptron([3, 1], degree=2)], dim=2)
    >>> network_fiber(sums, {"W_1_1": [[1, 2], [1, 2], [0, 1]], "W_1_2": [[1, 2, 1]]})
    symmetries: 6 of 9 dimensions (proved), 3 by the symmetries; given: 1 found, of constant rank
    """
    asked, architecture = as_attention(architecture), architecture.as_network() or architecture
    if (n := architecture.parameters) > MOST_PARAMETERS:
        raise TooLargeError(f"{architecture.name} has {n} weights; fibers are for {MOST_PARAMETERS} at most")
    if architecture.degree is None:
        return _softmax_fiber(asked, architecture, given)
    at = weights_of(architecture, given)
    rank, bound = rank_and_bound(at)
    most, is_largest = n - rank, rank == bound.value
    layers = _Layers(at) if isinstance(architecture, DeepNetwork) and is_covered(architecture) else None
    if layers is None:
        at = with_all_symmetries(at)
    zero, zero_evidence, _ = same_function(at, None)
    case: Any = "zero" if zero else "symmetries"
    start: tuple[Directions, ...] = ()
    components: list[NetworkComponent] = []
    if layers is not None and zero:
        components = list(layers.zeros())
        if vanishes(layers.M, layers.L, architecture.t):
            zero_evidence = Evidence.PROVED
    elif layers is not None:
        start, components = layers.directions(), list(layers.exchanged())
        if layers.parallel is not None:
            case = "one token" if architecture.t == 1 else "rank-one head"
    evidence, error = Evidence.PROVED, 0.0
    widest = max((c.dimension for c in components if c.through), default=None)
    if widest is None or (is_largest and widest < most):
        vectors = tuple(v for part in start for v in part.vectors)
        dimension = spanned = at.orbit_dimension(vectors)
        if layers is not None and not zero:
            dimension = max(dimension, layers.count)
        if dimension < most:
            family = widest_family(at, most, min(_ORDERS, 1000 // n), vectors)
            if family.dimension > dimension:
                more = tuple(v for v in family.directions if v not in vectors)
                start = (*start, Directions(at, "found", None, more))
                dimension, evidence, error = family.dimension, family.evidence, family.error
                spanned = dimension
        text = _in_words(start)
        if constant := is_largest and spanned < most:
            dimension = most
            text += f", and more: the rank {rank} of the differential is constant near the weights"
        elif spanned < dimension:
            text += f", and more: these span {spanned} dimensions, and a count of equations gives {dimension}"
        proof = Evidence.PROVED if constant else evidence
        components.append(NetworkComponent("given", text, at, start, (), dimension, True, constant, proof))
    components.sort(key=lambda c: (not c.through, c.name != "given"))
    how = evidence, error, at.orbit_by_name(), zero_evidence
    orbit = at.orbit_dimension()
    return NetworkFiber(asked, case, tuple(components), n, orbit, rank, *how)


def _softmax_fiber(asked: Architecture, network: Architecture, given: Any) -> NetworkFiber:
    """The fiber of a softmax network: what keeps M_1, ..., M_s and L, if s is the first collapsed layer."""
    if not isinstance(network, DeepNetwork) or not is_covered(network, "softmax"):
        raise InputError(
            f"{network} is normalized; agattn finds fibers of softmax networks with one head in each layer,"
            " and no skip connections or value rank; otherwise ask about a jet: give "
            f"{worded('--jet N', 'ag.Jet(network, N)')}"
        )
    if network.depth > MOST_LAYERS:
        raise TooLargeError(
            f"{network} has {network.depth} layers, and jets of order {least_order(network)} take long; "
            f"fibers of softmax are for {MOST_LAYERS} layers at most"
        )
    at = weights_of(Jet(network, least_order(network)), given)
    rank, layers = at.differential_rank(), _Layers(at)
    s, l = layers.seen, layers.l
    free = tuple(f"{letter}_{i}" for i in range(s + 1, l + 1) for letter in "KQ")
    units = at.units_of(free)

    def size(parts: tuple[Directions, ...]) -> int:
        return at.orbit_dimension([*(v for part in parts for v in part.vectors), *units])

    # In each layer either K or Q moves while M_i stays: where one of the two is 0, the other is free.
    ways = (layers.directions(way) for way in itertools.product((False, True), repeat=s))
    parts = max(ways, key=size)
    dimension = size(parts)
    text = _in_words(parts)
    if s < l:
        kept = ["L", *(f"M_{i}" for i in range(1, s + 1))]
        text = f"{', '.join(kept)} as they are, {', '.join(free)} free"
    component = NetworkComponent("given", text, at, parts, free, max(dimension, layers.count), True)
    case: Any = "collapsed" if s < l else "symmetries"
    if not layers.L.any():
        case = "zero"
    elif network.t == 1:
        case = "one token"
    return NetworkFiber(
        asked,
        case,
        (component,),
        network.parameters,
        at.orbit_dimension(),
        rank,
        Evidence.PROVED,
        symmetries=at.orbit_by_name(),
        elsewhere=layers.elsewhere(),
    )


def _compared(one: ExactWeights, other: ExactWeights) -> Comparison:
    """Whether two weights of a softmax network have one function: by (M, L), or else by values of a jet.

    Raises:
        UndecidedError: if (M, L) differ, and the jets do not.
    """
    first, second = _Layers(one), _Layers(other)
    if first.seen == second.seen and (first.L == second.L).all():
        pairs = zip(first.M[: first.seen], second.M[: first.seen], strict=True)
        if all((M == N).all() for M, N in pairs):
            steps = connecting(one, other) if first.seen == first.l else None
            return Comparison(True, Evidence.PROVED, 0.0, steps)
    equal, evidence, error = same_function(one, other)
    if equal:
        raise UndecidedError(
            "the virtual weights differ, and the jets are the same; whether the functions are is not known"
        )
    return Comparison(False, evidence, error)


def _in_words(parts: Iterable[Directions]) -> str:
    """What changes along directions."""
    words = {
        "unseen": "K_{i}, Q_{i}, V_{i} with M_{i} and L_{i} as they are",
        "skew": "M_{i} + S, S skew",
        "found": "what a search found",
    }
    return "; ".join(words[part.name].format(i=part.layer) for part in parts) or "the orbit"


#: Arrays of a layer, and vectors of weights along which they may be moved.
Linear = tuple[dict[str, Array], list[Vector]]


class _Layers:
    """One head in each layer, as exact matrices, with what they make of the tokens."""

    def __init__(self, at: ExactWeights) -> None:
        network = at.architecture.network if isinstance(at.architecture, Jet) else at.architecture
        assert isinstance(network, DeepNetwork)
        self.at, self.network = at, network
        arrays = at.exact()
        self.l = network.depth
        self.K, self.Q, self.V = (
            [_exact(arrays[f"{x}_{i}"][0], x) for i in range(1, self.l + 1)] for x in "KQV"
        )
        A = [K.T @ Q for K, Q in zip(self.K, self.Q, strict=True)]
        self.A = A
        self.M, self.L = virtual_weights(A, self.V)
        self.before = partial_products(self.V)
        low = (i for i, M in enumerate(self.M[:-1], 1) if rational_rank(M) == 1)
        #: The layer after which all tokens are parallel, or ``None``.
        self.parallel = 0 if network.t == 1 else next(low, None)
        #: How many layers have scores that the function may depend on, the first ones.
        self.seen = self.l
        if not network.is_lightning:
            self.parallel = None
            constant = network.t == 1 or not self.L.any()
            self.seen = 0 if constant else min(first_collapsed(self.M, network.t), self.l)

    @property
    def count(self) -> int:
        """A lower bound on the local dimension of the fiber, for f ≠ 0: the weights less the equations.

        The weights with given M_i, and Sym(M_i) where tokens are parallel, and L are a fiber of a polynomial
        map. All its components have at least the dimension of the space less that of the image, which is in a
        product of determinantal varieties. The l scalings act on the target with finite stabilizers. A
        softmax network has no scalings, and the M_i behind a collapsed layer are not given.
        """
        d, widths, seen = self.network.dims[0], self.network.dims, 0
        narrow, scalings = min(widths), self.l if self.network.is_lightning else 0
        for i, r in enumerate(virtual_ranks(self.network)[: self.seen], 1):
            symmetric = self.parallel is not None and i > self.parallel
            seen += min(r * (2 * d - r), d * (d + 1) // 2) if symmetric else r * (2 * d - r)
        return self.network.parameters - seen - narrow * (d + widths[-1] - narrow) + scalings

    def elsewhere(self) -> str:
        """What is known of all weights with the function of these, of a softmax network."""
        if self.network.t == 1 or not self.L.any():
            return "All weights with this function are those with this L, as the scores are never seen."
        if self.l == 1:
            return "By HMK's Theorem 3.9 all weights with this function are those with these M_1 and L."
        kept = ", ".join(f"M_{i}" for i in range(1, self.seen + 1))
        all_of = f"all weights with this function are those with these {kept} and L"
        two_layers = self.l <= 2
        general = self.seen == self.l and not any(map(is_skew, self.M[:-1]))
        if general or self.network.t == 2 or two_layers:
            number = 1 if general else 2 if self.network.t == 2 else 3
            return (
                f"{all_of[0].upper()}{all_of[1:]}: {PREPRINT} (Theorem {number}), which is not checked here."
            )
        return f"Whether {all_of}, is open for three tokens or more and three layers or more."

    def directions(self, turned: Sequence[bool] = ()) -> tuple[Directions, ...]:
        """Jointly linear: for each layer what changes M_i by a skew matrix or not, and never L_i.

        Either K_i or Q_i moves, the one whose partner has the larger rank; in layers that are ``turned`` the
        other one.
        """
        parts = []
        for i in range(1, self.l + 1):
            L, K, Q, V = self.before[i - 1], self.K[i - 1], self.Q[i - 1], self.V[i - 1]
            off, fixed, unseen = _kernel(flint_matrix(L.T)), [("V", V)], list[Vector]()
            if i <= self.seen:
                queries = (rational_rank(K @ L) >= rational_rank(Q @ L)) != any(turned[i - 1 : i])
                moves, kept = ("Q", "K") if queries else ("K", "Q")
                N = (K if queries else Q) @ L
                still = _kernel(pairing(N, L, skew=False))
                unseen = self.at.vectors_of(f"{moves}_{i}", still)
                fixed = [(kept, K), *fixed]
            for name, M in fixed:
                unseen += self.at.vectors_of(f"{name}_{i}", _products(np.eye(len(M), dtype=int), off))
            if unseen:
                parts.append(Directions(self.at, "unseen", i, tuple(unseen)))
            if self.parallel is not None and i > self.parallel:
                skew = _kernel(pairing(N, L, skew=True))
                rows = independent_rows([*still, *skew])
                chosen = [skew[r - len(still)] for r in rows if r >= len(still)]
                if chosen:
                    vectors = self.at.vectors_of(f"{moves}_{i}", chosen)
                    parts.append(Directions(self.at, "skew", i, tuple(vectors)))
        return tuple(parts)

    def exchanged(self) -> Iterator[NetworkComponent]:
        """Other weights with the function f ≠ 0, from exchanging v of L = h vᵀ with a factor of an M_m."""
        l, low = self.l, self.parallel
        if low is None and rational_rank(self.M[-1]) == 1:
            low = l
        if low is None or rational_rank(self.L) > 1:
            return
        h, v = rank_one(self.L)
        m, squares = l, [M + M.T for M in self.M]  # M_j with j > m are multiples of v vᵀ, up to skew ones
        while m > low and rational_rank(np.vstack([squares[m - 1], v])) == 1:
            m -= 1
        if m > low:
            S = squares[m - 1]
            factors = factor_quadratic_form(S - np.diag(np.diag(S)) / Fraction(2))
            if not isinstance(factors, tuple):
                return
            pairs = [factors, factors[::-1]]
            pairs = pairs[:1] if rational_rank(np.array(factors)) == 1 else pairs
        elif m:
            pairs = [rank_one(self.M[m - 1])]
        else:
            return
        at = next(i for i, entry in enumerate(v) if entry)
        for x, y in pairs:
            last = _lift(self.before[l - 1], x)
            if rational_rank(np.array([x, v])) == 1 or last is None:
                continue
            arrays = self.at.exact() | {f"V_{l}": np.multiply.outer(h, last)[None]}
            for j in range(m, l + 1):
                del arrays[f"K_{j}"], arrays[f"Q_{j}"]
                left, right = (_lift(self.before[j - 1], z) for z in ((v, y) if j == m else (x, x)))
                assert left is not None and right is not None, "row spaces of L_i do not grow"
                scale = 1 if j == m else self.M[j - 1][at, at] / v[at] ** 2
                arrays[f"A_{j}"] = scale * np.multiply.outer(left, right)
            moved = weights_of(self.network, arrays)
            layers = _Layers(moved)
            parts = layers.directions()
            dimension = max(moved.orbit_dimension([w for part in parts for w in part.vectors]), layers.count)
            text = f"L = h xᵀ, M_{m} = v yᵀ" + ", later M_j = c_j x xᵀ" * (m < l)
            text += " for h vᵀ, x yᵀ" + ", c_j v vᵀ" * (m < l) + ", up to skew matrices" * (low < l)
            yield NetworkComponent("exchanged", text, moved, parts, (), dimension, False)

    def zeros(self) -> Iterator[NetworkComponent]:
        """Components of the weights with the function 0, with a point as near to the given one as is easy."""
        l = self.l
        for i in range(1, l + 1):
            yield self._free(f"A_{i} = 0", {i: self._low(i, 0)})
            yield self._free(f"V_{i} = 0", {i: ({f"V_{i}": self.V[i - 1] * 0}, [])})
        for j in range(1, l + 1):
            if min(self.K[j - 1].shape) < 2:
                continue
            if self.network.t == 1:
                yield self._free(f"A_{j} skew", {j: self._skew(j)})
            for i in range(1, j):
                yield self._free(f"rk A_{i} ≤ 1, A_{j} skew", {i: self._low(i, 1), j: self._skew(j)})

    def _free(self, name: str, parts: Mapping[int, Linear]) -> NetworkComponent:
        """Weights where some arrays of layers lie in linear spaces through these, and all else is free."""
        fixed = {x: array for arrays, _ in parts.values() for x, array in arrays.items()}
        at = ExactWeights(self.network, self.at.exact() | fixed)
        free = tuple(x for x in self.network.shapes if x not in fixed)
        spaces = tuple(Directions(at, "zero", i, tuple(space)) for i, (_, space) in parts.items() if space)
        dimension = at.orbit_dimension([*at.units_of(free), *(v for part in spaces for v in part.vectors)])
        through = at.vector == self.at.vector
        return NetworkComponent(name, f"{name}, all else free", at, spaces, free, dimension, through)

    def _low(self, i: int, rank: int) -> Linear:
        """K, Q with KᵀQ of this rank at most, 0 or 1, and a linear space of such through them.

        The columns of K lie in S and those of Q in T, spaces of vectors with a pairing of this rank.
        """
        K, Q = self.K[i - 1].copy(), self.Q[i - 1].copy()
        a, d = K.shape
        m = min((a + rank) // 2, d)
        if rational_rank(K.T @ Q) > rank:
            K[m:] = Q[: m - rank] = Fraction(0)
        S = _independent(K.T)
        for w in _kernel(flint_matrix(Q.T)):
            if len(S) < m:
                S = _independent([*S, w])
        T = _independent([*_kernel(rational_matrix(S, a)), *Q.T])
        if rational_rank(np.array(S).reshape(-1, a) @ np.array(T).reshape(-1, a).T) < rank:
            units = [row for row in np.eye(a, dtype=int).astype(object) if any(row @ s for s in S)]
            T = _independent([*T, *units[:1]])
        rows = np.eye(d, dtype=int)
        of_k, of_q = (self.at.vectors_of(f"{x}_{i}", _products(of, rows)) for x, of in (("K", S), ("Q", T)))
        return {f"K_{i}": K, f"Q_{i}": Q}, of_k + of_q

    def _skew(self, j: int) -> Linear:
        """K, Q with KᵀQ skew, and the linear space of the Q that go with this K."""
        K, Q = self.K[j - 1], self.Q[j - 1]
        if not is_skew(self.A[j - 1]):
            K, Q = np.full((2, *K.shape), Fraction(0))
            K[range(n := min(K.shape)), range(n)] = Fraction(1)
            Q[0, 1], Q[1, 0] = Fraction(1), Fraction(-1)
        identity = np.eye(K.shape[1], dtype=int).astype(object)
        queries = _kernel(pairing(K, identity, skew=True))
        return {f"K_{j}": K, f"Q_{j}": Q}, self.at.vectors_of(f"Q_{j}", queries)


def pairing(N: Array, L: Array, skew: bool) -> flint.fmpq_mat:
    """Equations for the entries of B, row by row: NᵀBL is skew, or 0."""
    table = np.multiply.outer(N, L).transpose(1, 3, 0, 2)  # of the pairing: entry (x, y) by (r, s)
    if skew:
        table = (table + table.swapaxes(0, 1))[np.triu_indices(N.shape[1])]
    return flint_matrix(table.reshape(-1, len(N) * len(L)))


def _kernel(matrix: flint.fmpq_mat) -> list[Array]:
    """A basis of the vectors x with matrix·x = 0, with integers."""
    return [np.array(vector, dtype=object) for vector in integer_kernel(matrix)]


def _products(columns: Iterable[Array], rows: Iterable[Array]) -> Iterator[Array]:
    """The matrices x yᵀ of all vectors x and y."""
    return itertools.starmap(np.multiply.outer, itertools.product(columns, rows))


def _independent(rows: Any) -> list[Array]:
    """Those of the rows that are no combinations of those before them."""
    rows = list(rows)
    return [rows[i] for i in independent_rows(rows)]


def _lift(L: Array, x: Array) -> Array | None:
    """A y with Lᵀy = x, or ``None`` for x that is not in the row space of L."""
    kernel = _kernel(flint_matrix(np.column_stack([L.T, -x])))
    if not kernel or not kernel[-1][-1]:
        return None
    return np.asarray(kernel[-1][:-1] / Fraction(kernel[-1][-1]))


def _exact(values: Any, name: str) -> Array:
    """Fractions; every float is the number that it stands for."""
    return np.asarray(np.vectorize(Fraction, otypes=[object])(scalars(values, name)))
