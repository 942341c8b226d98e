r"""Which parameters a function determines: each array, products of arrays, and functions that a user names.

>>> from agattn.architectures import SingleLayer
>>> answer = identifiability(SingleLayer(3, 2, 2))
>>> answer
M(3,2,2), at general weights: the fiber has dimension 5 (proved)
K      nonidentifiable, 4 of 6 entries are free (proved)
Q      nonidentifiable, 4 of 6 entries are free (proved)
V      globally up to a factor (proved)
K^T Q  globally up to a factor (proved)
>>> print(*answer.common_factors)
one common factor s: V by s, K^T Q by s⁻¹ (proved)

**At general weights.** Let φ be the function of a model, f a function of its weights, and J, D their
differentials. Weights with one function are a smooth variety there with the tangent space ker J, so f is
constant on it near the weights if and only if D is 0 on ker J: if the rank of (J, D) is that of J. In general
f moves in

    free = rank (J, D) − rank J

directions. Modulo a prime both ranks are found at a random point. What is proved by what:

- *free ≥ k*: a minor of (J, D) that is not 0 modulo p, against a proved upper bound on rank J; or symmetries
  that are proved, along which f moves in k directions.
- *free ≤ k*: a minor of J that is not 0 modulo p, against a proved upper bound on rank (J, D). That bound is
  the number of parameters, minus the rank of symmetries that are proved to fix φ and f.
- *up to a factor*: Dv = λ(v)·f for all v in ker J. It is proved like free = 0, with the symmetries that are
  proved to change f by factors.
- *globally*: the general fiber is known to be irreducible, by a theorem. A function that is locally constant
  on it, or locally constant up to a factor, is constant on all of it, or constant up to a factor.

>>> layer = SingleLayer(3, 2, 2)
>>> study = GeneralStudy(layer)
>>> for name in layer.shapes:
...     row = study.movement(whole_array(name, layer.shapes))
...     print(name, row.free, row.status, row.factors and row.factors.of)
K 4 not None
Q 4 not None
V 1 locally all

**At given weights** the fiber is known near the weights and, of one layer, altogether. At special weights the
fiber may be larger than at general ones, and a rank at one point says less. Three arguments decide:

- *The fiber is known near the weights*: symmetries and linear spaces of weights with one function have the
  dimension that ranks allow. Then what is 0 or not at a general point of this family decides.
- *The differential has the largest rank that it has anywhere.* Then the fiber is smooth, and what is true of
  general weights by identities, such as that a product does not move, is true at these weights.
- Else what moves along a part of the fiber that is known is not determined, and all else is undecided.

>>> import agattn as ag
>>> for V in ([[1, 0]], [[0, 0]]):
...     answer = ag.identifiability(ag.SingleLayer(2, 1, 1), at={"K": [[1, 2]], "Q": [[0, 1]], "V": V})
...     print(answer["V"], answer["K^T Q"], sep="; ")
V: locally up to a factor (proved); K^T Q: locally up to a factor (proved)
V: locally (modular); K^T Q: nonidentifiable, 3 of 4 entries are free (proved)

Neurons of bilinear layers: the products that a layer adds up, and where its function determines these.

A bilinear layer is Σ_i D_i (g_i x)(u_i x), with rows g_i, u_i of G, U and columns D_i of D. So the function
of the layer is the tensor Σ_i D_i ⊗ (g_iᵀu_i + u_iᵀg_i), and *neuron* i is one of its terms. The theorems on
the page of proofs on bilinear layers say when general weights with one function have the same terms in
another order: then they differ by two scales of each neuron, exchanges of g_i and u_i, and a permutation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import comb, log2
from typing import Any, Literal, NamedTuple

import flint
import numpy as np
from msgspec import structs

from agattn.algebra.arithmetic import Array, ModularArithmetic
from agattn.algebra.echelon import primitive
from agattn.algebra.graded_ideals import Monomial
from agattn.algebra.residues import (
    PRIME_BITS,
    Residues,
    RowSpace,
    chance_of_dividing,
    hadamard,
    random_prime,
    random_residues,
    rational_number,
)
from agattn.architectures import Architecture, Bilinear, Jet, Network, SingleLayer
from agattn.architectures.functions import WeightFunction, read_function, whole_array
from agattn.architectures.layer import as_layer
from agattn.architectures.model_file import STUDIED, Studied
from agattn.architectures.normalizer import raised
from agattn.architectures.products import adjacent_products
from agattn.architectures.protocol import as_parameters, as_rows, bounds_on_outputs
from agattn.calls import is_list, shown
from agattn.errors import DisagreementError, InputError, UndecidedError, worded
from agattn.evidence import Evidence, ProvedOrModular, weakest
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.dimension.jacobian import check_size
from agattn.geometry.dimension.lie_algebra import MAX_TOKENS, applied, at_monomials
from agattn.geometry.dimension.symmetries import known_groups
from agattn.geometry.dimension.theorems import irreducible_fibers
from agattn.geometry.identifiability.families import MOST_PARAMETERS, ExactWeights, differential
from agattn.geometry.identifiability.network_fibers import NetworkComponent, network_fiber, weights_of
from agattn.geometry.identifiability.symmetries import (
    MOST_EXPONENTS,
    MOST_GENERATORS,
    Change,
    DiscreteSymmetry,
    SymmetryFields,
    act,
    derivative,
    discrete_symmetries,
    prime_with_roots,
    proved_symmetries,
)
from agattn.geometry.identifiability.virtual_weights import MOST_LAYERS, least_order
from agattn.geometry.identifiability.weights import fiber, weights_of_layer
from agattn.limits import limits, log, refuse, steps, takes
from agattn.memory import allow
from agattn.sheet.data import Cell, Note, Sheet, Table, Word
from agattn.sheet.result import Count, Key, Positive, Probability, Result, key

#: Products of arrays with more entries are left out, and named functions refused without ``force``.
MAX_ENTRIES = 20_000
#: The most parameters of a model whose known symmetries are proved to be all of general fibers.
MOST_BY_SYMMETRIES = 100_000


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
UpTo = Literal["factor", "sign", "root", "permutation", "exchange"] | None
#: What has a factor of its own.
FactorOf = Literal["all", "matrix", "row", "column"] | None
#: How a status is called on a screen.
_WORDS = {Determination.PARTLY: "in part", Determination.NOT: "nonidentifiable"}
#: Up to what a whole array is determined, in words.
_UP_TO: Mapping[UpTo, str] = {"factor": "a factor", "root": "a root of unity", "sign": "a sign"}


@dataclass(frozen=True, eq=False)
class Factors:
    """Blocks of entries that change by factors.

    Attributes:
        blocks: of each entry the number of its block.
        rates: λ(v) for each tangent vector, (vectors, blocks).
        of: which blocks these are.
    """

    blocks: Array
    rates: Residues
    of: FactorOf


class Determined(Result):
    """Whether the function of a model determines one array, or one function of the arrays."""

    name: Key[str, "The name of the array, or the function as it is printed, or what it is in words."]
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
    evidence: Key[ProvedOrModular, "How the status is known."]
    free_evidence: Key[ProvedOrModular, "How the number of free entries is known."]
    determined: Key[Count, "The number of entries that are determined one by one."]
    reason: Key[str, "The argument, in words."]
    factors: Factors | None = None
    changes: tuple[tuple[UpTo, DiscreteSymmetry], ...] = ()

    @key
    def up_to(self) -> UpTo:
        """Up to what it is determined: a `factor`; a `sign`; a `root` of unity; a `permutation`; an
        `exchange` of rows with another array. Null where nothing is known that changes it, and where it is
        not determined, or only in part."""
        return "factor" if self.factors else next((kind for kind, _ in self.changes), None)

    @key
    def factor_of(self) -> FactorOf:
        """Of a `factor` what has one of its own: `all` of it has one, or each `matrix`, `row` or `column`."""
        return self.factors.of if self.factors else None

    @key
    def changed_by(self) -> tuple[str, ...]:
        """The finite symmetries that change the array or function, beyond factors."""
        return tuple(str(symmetry) for _, symmetry in self.changes)

    @property
    def is_determined(self) -> bool:
        """Whether it is determined, up to what ``up_to`` says."""
        return self.status in (Determination.GLOBALLY, Determination.LOCALLY)

    @property
    def extent(self) -> str:
        """Up to what it is determined, in words; empty where nothing is known that changes it."""
        parts = list(self._parts().values())
        return f"{', '.join(parts[:-1])}, and {parts[-1]}" if len(parts) > 1 else "".join(parts)

    def _parts(self) -> dict[str, str]:
        """What it is determined up to: a word for a table, with how a text says it."""
        kinds = {symmetry.name: symmetry for _, symmetry in self.changes}
        several, parts = self.factor_of not in (None, "all"), dict[str, str]()
        if several:
            parts["factors"] = f"a factor for each {self.factor_of}"
        elif word := _UP_TO.get(self.up_to):
            parts[word] = word
        if "permutations" in kinds:
            parts |= {"order": "their order"} if several else {"a permutation": "a permutation"}
        if exchanges := kinds.get("exchanges"):
            others = [name for name in exchanges.arrays if name != self.name]
            alone = len(others) == 1
            parts["exchanges"] = f"exchanges with rows of {others[0]}" if alone else "exchanges of rows"
        return parts

    @property
    def word(self) -> str:
        """The status: ``globally``, ``locally``, ``in part``, ``nonidentifiable`` or ``undecided``."""
        return _WORDS.get(self.status, str(self.status))

    @property
    def answer(self) -> str:
        """The status, up to what, and how it is known."""
        up_to = f" up to {self.extent}" if self.extent else ""
        free = f", {self.free} of {self.entries} entries are free" if not self.is_determined else ""
        return f"{self.word}{up_to}{free} ({self.evidence})"

    def summary(self) -> str:
        """The answer in a line."""
        return f"{self.name}: {self.answer}"

    def cells(self) -> tuple[Cell, ...]:
        """The row of a table."""
        weaker = "" if self.free_evidence is Evidence.PROVED else f" ({self.free_evidence})"
        free = f"{self.free} of {self.entries}{weaker}"
        up_to = ", ".join(self._parts()) or "–"
        return self.name, self.word, up_to, free, Word(str(self.evidence))


class DeterminedFunction(Determined):
    """Whether the function of a model determines a product, a sum or another function of its arrays."""

    expression: Key[str, "The function, as `--functions` reads it."] = ""


class CommonFactor(Result):
    """What changes by powers of one factor."""

    names: Key[tuple[str, ...], "Arrays and functions."]
    exponents: Key[tuple[int, ...], "The exponent of the factor for each."]
    evidence: Key[ProvedOrModular, "How the exponents are known."]

    def summary(self) -> str:
        """The names with their factors."""
        powers = ("s" if k == 1 else f"s{raised(k)}" for k in self.exponents)
        parts = (f"{name} by {power}" for name, power in zip(self.names, powers, strict=True))
        return f"one common factor s: {', '.join(parts)} ({self.evidence})"


class KnownSymmetries(Result):
    """The symmetries that an answer uses."""

    dimension: Key[
        Count, "The dimension of the orbits of the connected group of linear symmetries that is known."
    ]
    discrete: Key[tuple[DiscreteSymmetry, ...], "Finite groups of symmetries beyond this group."]


class Identifiability(Result, name="identifiability"):
    """Which parameters of a model its function determines, and up to what.

    A row of ``parameters`` or ``functions`` can be taken by its name: ``answer["K_1"]``.
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
    fiber_evidence: Key[ProvedOrModular, "How the dimension of the fiber is known."]
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

    @property
    def rows(self) -> tuple[Determined, ...]:
        """The arrays, then the functions."""
        return (*self.parameters, *self.functions)

    def __getitem__(self, name: str) -> Determined:
        for row in self.rows:
            if _plain(name) in (_plain(row.name), _plain(getattr(row, "expression", ""))):
                return row
        raise KeyError(name)

    def summary(self) -> str:
        """The table: a line for each parameter."""
        width = max(len(row.name) for row in self.rows)
        title = f"{self.architecture.name}, {self._where}: {self._fiber}"
        return "\n".join([title, *(f"{row.name:<{width}}  {row.answer}" for row in self.rows)])

    @property
    def _where(self) -> str:
        return "at the weights" if self.at_weights else "at general weights"

    @property
    def _fiber(self) -> str:
        at_least = "at least " * (self.at_weights and self.fiber_evidence is not Evidence.PROVED)
        return f"the fiber has dimension {at_least}{self.fiber_dimension} ({self.fiber_evidence})"

    def sheet(self) -> Sheet:
        """A row for each array and each function, and what holds of several."""
        about = f"what the function determines {self._where}, over ℂ"
        tables = [
            Table(caption, (first, "status", "up to", "free", "evidence"), tuple(row.cells() for row in rows))
            for caption, first, rows in (
                ("Arrays", "parameter", self.parameters),
                ("Functions of the arrays", "function", self.functions),
            )
            if rows
        ]
        lines = [f"{row.name}: up to {row.extent}" for row in self.rows if "each" in row.extent]
        lines += [f"{f.name}: {f.expression}" for f in self.functions if f.name.startswith("neurons of ")]
        lines += [str(factor) for factor in self.common_factors]
        lines += [f"finite symmetries: {symmetry}" for symmetry in self.symmetries.discrete]
        if self.theorem:
            known = "weights with one function differ by the symmetries above"
            fibers = known if self.theorem in (NEURONS, FEW_NEURONS) else "general fibers are irreducible"
            lines.append(f"globally: {fibers}, by {self.theorem}")
        if self.decided_by:
            lines.append(f"decided by a jet: {self.decided_by}")
        if self.error:
            lines.append(f"modular: wrong with probability below {self.error:.1e}")
        note = [Note("\n".join(lines))] if lines else []
        return Sheet(f"{self.architecture.name}: {about}; {self._fiber}", (*tables, *note))


def _plain(text: str) -> str:
    """A function without spaces, and with one sign for what has two."""
    for sign, plain in ((" ", ""), ("−", "-"), ("ᵀ", "^T"), ("Σ_", "sum_"), ("**", "⊗")):
        text = text.replace(sign, plain)
    return text


@takes("seed", "force", "progress")
def identifiability(
    architecture: Architecture, functions: str | Sequence[str] = (), at: Mapping[str, Any] | None = None
) -> Identifiability:
    r"""For each parameter array of a model, and for products of arrays: does the function determine it?

    Args:
        architecture: any polynomial one, such as a lightning layer, a network of layers, a polynomial map; or
            a softmax network of at most three layers without skip connections, which is decided by its jet.
        functions: further functions of the arrays, such as ``K_1^T Q_1``, ``K_1[2]`` or ``sum_i K^T Q[i]``.
        at: given weights, an array for each parameter, in place of general ones.
        seed: of all random choices. It never changes what is proved, only (rarely) whether.
        force: attempt architectures and functions beyond the limits on sizes.

    Raises:
        InputError: if the architecture is neither polynomial in its weights nor a softmax network, a function
            cannot be read, or the weights are those of another architecture.
        UndecidedError: for a softmax network with several heads, if its jet has a smaller dimension.
        TooLargeError: if it has more than 3000 parameters, or 100000 where the known symmetries are proved
            to be all of general fibers; or a function more than 20000 entries.
        DisagreementError: if a bound contradicts another.

    See Also:
        :func:`agattn.fiber`, :func:`agattn.symmetries`, :func:`agattn.equivalent`;
        ``agattn identifiability`` in a shell.

    >>> import agattn as ag
    >>> heads = ag.Network([ag.Attention(2, rank=1, heads=2)], dim=3, tokens=2)
    >>> ag.identifiability(heads, ["K_1[1]^T Q_1[1] + K_1[2]^T Q_1[2]"])
    3×2 → attention 2 (rank 1, heads 2), at general weights: the fiber has dimension 4 (proved)
    K_1                                locally up to a factor for each matrix, and their order (proved)
    Q_1                                locally up to a factor for each matrix, and their order (proved)
    V_1                                locally up to a factor for each matrix, and their order (proved)
    K_1^T Q_1                          locally up to a factor for each matrix, and their order (proved)
    K_1[1]^T Q_1[1] + K_1[2]^T Q_1[2]  nonidentifiable, 2 of 9 entries are free (proved)
    """
    studied = architecture if architecture.degree is not None else _deciding_jet(architecture, at)
    if architecture.parameters > (MOST_BY_SYMMETRIES if at is None else MOST_PARAMETERS):
        _refuse_parameters(architecture, at is None)
    elif architecture.parameters > MOST_PARAMETERS:
        vectors = sum(group.size**2 for group in known_groups(studied))
        if vectors > 4 * MOST_GENERATORS:
            _refuse_parameters(architecture)
        allow(32.0 * vectors * architecture.parameters, f"the tangent vectors of {vectors} symmetries")
    if not limits().force and architecture.parameters <= MOST_PARAMETERS:
        check_size(architecture)
    asked = _asked(architecture, functions)
    given = None if at is None else _in_layers(architecture, at)
    study = GeneralStudy(studied)
    at_weights = None if given is None else StudyAt(study, given)
    answers: GeneralStudy | StudyAt = at_weights or study
    sums = {layer.total: f"sum of neurons of layer {layer.layer}" for layer in terms(architecture)}
    names = sums | {layer.each: f"neurons of layer {layer.layer}" for layer in terms(architecture)}
    rows: list[tuple[WeightFunction, Determined]] = []
    for f, is_array in steps(asked, len(asked), lambda row: row[0].text):
        row = study.decided(f, answers.movement(f), answers)
        if not is_array:
            named = structs.asdict(row) | {"name": names.get(f.text, row.name)}
            row = DeterminedFunction(**named, expression=f.text)
        rows.append((f, row))
    evidences = [study.fiber_evidence, *(e for _, row in rows for e in (row.evidence, row.free_evidence))]
    modular = sum(evidence is Evidence.MODULAR for evidence in evidences)
    answer = Identifiability(
        architecture=study.architecture,
        parameters=tuple(row for _, row in rows if not isinstance(row, DeterminedFunction)),
        functions=tuple(row for _, row in rows if isinstance(row, DeterminedFunction)),
        fiber_dimension=answers.fiber_dimension,
        fiber_evidence=answers.fiber_evidence,
        symmetries=KnownSymmetries(study.symmetries.rank, tuple(study.discrete)),
        common_factors=common_factors(study, rows) if at_weights is None else (),
        theorem=answers.theorem,
        at_weights=at_weights is not None,
        error=min(1.0, modular * study.error) if modular else 0.0,
    )
    return answer if studied is architecture else _by_jet(answer, architecture, study)


def _refuse_parameters(architecture: Architecture, by_symmetries: bool = True) -> None:
    instead = f", or {MOST_BY_SYMMETRIES} where the known symmetries are all of the general fiber"
    refuse(
        f"{architecture.name} has {architecture.parameters} parameters; the limit"
        f" is {MOST_PARAMETERS}{instead if by_symmetries else ' at given weights'}"
    )


def _deciding_jet(architecture: Architecture, at: Mapping[str, Any] | None) -> Jet:
    """The jet that sees all scores of a softmax network."""
    network = architecture.as_network()
    if network is None or network.normalization != "softmax" or network.skip or network.depth > MOST_LAYERS:
        raise InputError(
            f"{architecture} is no polynomial in its weights; which parameters are determined is found for"
            " polynomials, such as lightning attention, and jets, "
            f"{worded('--jet N', 'ag.Jet(network, N)')}; and for softmax without skip"
            f" connections in at most {MOST_LAYERS} layers"
        )
    if at is not None:
        raise InputError(
            f"{architecture} is no polynomial in its weights; at given weights ask for the fiber, or for a"
            f" jet: {worded('--jet N', 'ag.Jet(network, N)')}"
        )
    return Jet(network, least_order(network))


def _by_jet(answer: Identifiability, architecture: Architecture, study: GeneralStudy) -> Identifiability:
    """The same of the network, if its jet has the dimension of the network.

    Along the fiber of the network the jet is constant. If network and jet have the same dimension, so have
    their fibers through general weights, which are then equal near the weights.
    """
    network, jet = architecture.as_network(), study.architecture
    assert network is not None and isinstance(jet, Jet)
    bound = network_bound(network).value
    if study.rank.lower_bound < bound:
        raise UndecidedError(
            f"the jet of order {jet.order} has a rank of {study.rank.lower_bound}, and {network} a dimension"
            f" of at most {bound}; a jet of higher order may decide: "
            f"{worded('--jet N', 'ag.Jet(network, N)')}"
        )
    reason = (
        f"the jet of order {jet.order} has the dimension {bound} of the network, so that near general weights"
        " both have the same fibers"
    )
    return answer.replace(architecture=architecture, decided_by=reason)


def _asked(architecture: Architecture, functions: str | Sequence[str]) -> list[tuple[WeightFunction, bool]]:
    """The arrays, the products of adjacent arrays, and the functions that are named; arrays are marked."""
    if not isinstance(functions, str) and not is_list(functions):
        raise InputError(f"functions is {shown(functions)}; give texts such as 'K_1^T Q_1'")
    shapes = architecture.shapes
    named = [functions] if isinstance(functions, str) else list(functions)
    for text in named:
        if not isinstance(text, str):
            raise InputError(f"a function is {shown(text)}; give text such as 'K_1^T Q_1'")
    own = [read_function(text, shapes) for text in named]
    for f in own:
        if f.size > MAX_ENTRIES:
            refuse(f"{f.text} has {f.size} entries; functions of at most {MAX_ENTRIES} are studied")
    texts = [*adjacent_products(architecture), *(text for layer in terms(architecture) for text in layer[1:])]
    products = [read_function(text, shapes) for text in texts]
    listed = {f.text: f for f in [*products, *own] if f in own or f.size <= MAX_ENTRIES}
    return [*((whole_array(name, shapes), True) for name in shapes), *((f, False) for f in listed.values())]


def _in_layers(architecture: Architecture, given: Mapping[str, Any]) -> ExactWeights:
    """Weights that are given, as exact weights of the network that the architecture is, or of itself."""
    if isinstance(architecture, SingleLayer):
        given = {f"{name}_1": a for name, a in ExactWeights(architecture, given).exact().items()}
    return weights_of(architecture.as_network() or architecture, given)


def family(component: NetworkComponent, evidence: Evidence, generator: np.random.Generator) -> FiberPoint:
    """A general point of the part of the fiber that a component is."""
    at = component.weights
    vectors = [*component.vectors, *at.units_of(component.free)]
    p = at.prime(generator)
    (theta,), space = at.random_point(vectors, p, generator)
    moved = moved_at_random(at, np.concatenate([theta[None], space]), p, generator)
    return FiberPoint(p, moved[0], np.concatenate([at.tangents(p, moved[0]), moved[1:]]), evidence)


def moved_at_random(at: ExactWeights, rows: Residues, p: int, generator: np.random.Generator) -> Residues:
    """Rows of parameters modulo a prime, moved by one random element of the symmetries.

    Of the further symmetries those with B² = 0 take part, by the group elements 1 + tB.
    """
    arrays = {name: np.array(a) for name, a in at.arrays(rows).items()}
    for symmetry in at.architecture.symmetries:
        g = random_residues(generator, (symmetry.size, symmetry.size), p)
        matrix = flint.nmod_mat(symmetry.size, symmetry.size, [int(x) for x in g.ravel()], p)
        if symmetry.is_orthogonal or not int(matrix.det()):
            continue
        entries = [float(int(x)) for x in matrix.inv().entries()]
        back = np.array(entries).reshape(g.shape)
        act(arrays, symmetry, g, back, p)
    moved: Residues = as_rows(at.architecture, arrays)
    for B in at.further:
        if any(j == k for _, j in B for k, _ in B):
            continue
        t = int(generator.integers(1, p))
        changes = np.array([applied(B, row.astype(int).tolist(), p) for row in moved], dtype=np.float64)
        moved = (moved + hadamard(changes, np.float64(t), p)) % p
    return moved


class StudyAt:
    """What all questions at given weights share.

    Attributes:
        study: at general weights.
        at: the weights.
        families: the parts of the fiber through them that are known.
    """

    def __init__(self, study: GeneralStudy, at: ExactWeights) -> None:
        self.study, self.at, architecture = study, at, study.architecture
        network = architecture.as_network() or architecture
        fiber = network_fiber(network, self.at)
        self.fiber_dimension, self.theorem = fiber.dimension, None
        self.fiber_evidence = proved_if(fiber.is_exact and fiber.dimension_evidence is Evidence.PROVED)
        generator = np.random.default_rng([limits().seed, 2])
        p = self.at.prime(generator)
        theta = self.at.residues(p)[0]
        point = FiberPoint(p, theta, differential(network, theta, p, generator).kernel())
        # With the evidence that the differential has the largest rank there is, if it has it.
        self.point: FiberPoint = replace(point, evidence=proved_if(point.rank >= study.rank.upper_bound))
        parts = [part for part in fiber.components if part.through]
        self.families = [family(part, fiber.evidence, generator) for part in parts]
        widest = max(parts, key=lambda part: part.dimension)
        self.irreducible = self._irreducible()
        is_near = fiber.is_exact and [part.dimension for part in self.families] == [fiber.dimension]
        #: Whether the family is all of the fiber near the weights.
        self.is_all = is_near or bool(self.irreducible and not widest.vectors)
        #: Whether the rank of the differential is the largest there is.
        self.is_largest = self.point.rank >= (study.rank.dimension or study.rank.lower_bound)

    def _irreducible(self) -> str:
        """Of one layer why the whole fiber is one orbit of connected groups, or nothing."""
        layer = as_layer(self.study.architecture)
        if layer is None or not layer.has_orbits:
            return ""
        arrays = self.at.exact()
        weights = {name: arrays[f"{name}_1"][0] for name in "KQV"}
        whole = fiber(weights_of_layer(layer, weights))
        is_one = whole.case in ("line", "double line") and whole.ranks["r_a"].rank == layer.alpha
        return "the whole fiber is one orbit (theorem-3.2)" if is_one else ""

    def movement(self, f: WeightFunction) -> Determined:
        """What the function of these weights determines of a function of the weights."""
        general = self.study.movement(f)
        if self.is_largest and general.status is Determination.LOCALLY:
            evidence = weakest([general.evidence, self.point.evidence])
            value, D = derivative(f, self.point.theta, self.point.tangents, self.point.p)
            if general.factors is None or value.any():
                free = RowSpace(f.size, self.point.p).add(D)
                return general.replace(free=free, evidence=evidence, free_evidence=evidence)
        if not self.is_all:
            return self._moving(f)
        answer = self._along(f)
        if self.point.evidence is not Evidence.PROVED:
            return answer
        # The number at general weights is an upper bound here, and has its evidence where both are the same.
        if answer.free == general.free:
            answer = answer.replace(free_evidence=general.free_evidence)
        if (answer.status, answer.determined) == (general.status, general.determined):
            answer = answer.replace(evidence=general.evidence)
        return answer

    def _along(self, f: WeightFunction) -> Determined:
        """The answer where a family is all of the fiber near the weights."""
        part = self.families[0]
        answer, _ = part.along(f, "the fiber")
        if answer.status is Determination.LOCALLY:
            return answer
        free_evidence = proved_if(answer.free in (f.size, len(part.tangents)))
        evidence = part.evidence if answer.status is Determination.NOT else Evidence.MODULAR
        return answer.replace(evidence=evidence, free_evidence=free_evidence)

    def _moving(self, f: WeightFunction) -> Determined:
        """The answer where only a part of the fiber is known: what moves is not determined."""
        # Where the rank is the largest, the fiber is smooth, and its tangent space is the kernel.
        parts = [*self.families, self.point] if self.is_largest else self.families
        where = "a part of the fiber that is known"
        answers = [part.along(f, where) for part in parts]
        moved = np.any([mask for _, mask in answers], axis=0)
        widest, _ = max(answers, key=lambda answer: answer[0].free)
        if (freely := any(a.free and a.factors is None for a, _ in answers)) and moved.all():
            return widest.replace(
                status=Determination.NOT,
                evidence=weakest(part.evidence for part in parts),
                free_evidence=proved_if(widest.free == f.size),
                determined=0,
                reason=f"every entry moves along {where}",
                factors=None,
            )
        count = int(moved.sum())
        seen = f"{count} of the entries move" if freely else "it is seen to move by factors at most"
        return widest.replace(
            status=Determination.UNDECIDED,
            determined=0,
            reason=f"{seen}; ranks do not decide at these weights about more",
            factors=None,
        )


# Random points at which ranks are taken, and how many are drawn for these.
_POINTS, _DRAWN = 2, 6


@dataclass(frozen=True)
class FiberPoint:
    """Weights modulo a prime, and vectors tangent to the fiber there, as rows.

    Attributes:
        evidence: how it is known that the vectors are tangent to the fiber.
    """

    p: int
    theta: Residues
    tangents: Residues
    evidence: Evidence = Evidence.MODULAR

    @cached_property
    def dimension(self) -> int:
        """The dimension that the vectors span."""
        return RowSpace(len(self.theta), self.p).add(self.tangents)

    @property
    def rank(self) -> int:
        """The rank of the differential, of which the vectors span the kernel."""
        return len(self.theta) - self.dimension

    def along(self, f: WeightFunction, what: str) -> tuple[Determined, Array]:
        """How f changes along the vectors, ``what`` in words, and which entries do; nothing is proved."""
        value, D = derivative(f, self.theta, self.tangents, self.p)
        free, moved = RowSpace(f.size, self.p).add(D), D.any(axis=0)
        by = factors(f, value, D, self.p) if free else None
        still = 0 if by else int((~moved).sum())
        status, reason = Determination.NOT, f"every entry moves along {what}"
        if free == 0:
            status, reason = Determination.LOCALLY, f"does not move along {what}"
        elif by:
            status, reason = Determination.LOCALLY, f"along {what} it changes by factors"
        elif still:
            status = Determination.PARTLY
            reason = f"{still} {'entry does' if still == 1 else 'entries do'} not move along fibers"
        name, how = f.expression.text, (Evidence.MODULAR, Evidence.MODULAR)
        return Determined(name, f.size, free, status, *how, still, reason, factors=by), moved


def factors(f: WeightFunction, value: Residues, D: Residues, p: int) -> Factors | None:
    """The coarsest blocks of entries that change by factors alone, if there are any.

    All of f; each matrix of a stack; each row; or each column.
    """
    number = np.arange(f.size)
    ways: list[tuple[Array, FactorOf]] = [(number * 0, "all")]
    if f.form.labels:
        ways.append((number // int(np.prod(f.form.axes)), "matrix"))
    if len(f.form.axes) == 2:
        rows, columns = f.form.axes
        ways.append((number // columns, "row"))
        ways.append((number // (rows * columns) * columns + number % columns, "column"))
    entries = np.flatnonzero(value)
    for blocks, of in ways:
        numbers, first = np.unique(blocks[entries], return_index=True)
        count = int(blocks.max()) + 1
        if 2 * count > f.size or len(numbers) < count:
            continue  # of single entries, and of blocks that are 0, this says nothing
        inverses = np.array([pow(int(x), -1, p) for x in value[entries[first]]], dtype=np.float64)
        rates = hadamard(D[:, entries[first]], inverses[None], p)
        if (hadamard(rates[:, blocks], value[None], p) == D).all():
            return Factors(blocks, rates, of)
    return None


class GeneralStudy:
    """What all questions about one polynomial model share: points, bounds on the rank, symmetries.

    Attributes:
        points: random ones with the largest rank, each modulo its own prime.
        fiber_dimension: of general fibers, as far as ranks tell; proved if the bounds on the rank meet.
        most: a proved upper bound on the dimension of general fibers.
        irreducible: why general fibers are irreducible, or nothing.
    """

    def __init__(self, architecture: Architecture) -> None:
        self.architecture, self.n = architecture, architecture.parameters
        log.info("the rank of the differential")
        self.rank: Dimension = dimension(architecture)
        self.symmetries = SymmetryFields(architecture, proved_symmetries(architecture))
        if self.n <= MOST_PARAMETERS or limits().force:
            log.info("the kernel of the differential")
            self.points = self._points(np.random.default_rng([limits().seed, 1]))
        else:
            self.points = self._by_symmetries()
        self.fiber_dimension = self.points[0].dimension
        self.most = self.n - max(self.rank.lower_bound, self.points[0].rank)
        self.fiber_evidence = proved_if(self.most == self.n - self.rank.upper_bound)
        log.info("symmetries")
        self.discrete = discrete_symmetries(architecture)
        network = architecture.as_network()
        self.theorem = irreducible_fibers(network) if network else None
        #: The theorem by which a general fiber is one orbit of the symmetries that are known.
        self.one_orbit = neurons_determined(architecture)
        self.coefficients = {layer.total for layer in terms(architecture) if alone(architecture)}
        if self.theorem is None and is_linear(architecture):
            self.theorem = "linear-fibers"
        self.irreducible = f"general fibers are irreducible ({self.theorem})" if self.theorem else ""
        self.theorem = self.theorem or self.one_orbit

    def _points(self, generator: np.random.Generator) -> list[FiberPoint]:
        """Random points with the largest rank, each modulo its own prime."""
        drawn: list[FiberPoint] = []
        for _ in range(_DRAWN):
            p = random_prime(generator)
            theta = random_residues(generator, (self.n,), p)
            point = FiberPoint(p, theta, differential(self.architecture, theta, p, generator).kernel())
            if point.rank > self.rank.upper_bound:
                raise DisagreementError(
                    f"{self.architecture} has the rank {point.rank} modulo {p}, and at most"
                    f" {self.rank.upper_bound} is proved; one of the two is wrong, please report it"
                )
            drawn.append(point)
            largest = max(point.rank for point in drawn)
            best = [point for point in drawn if point.rank == largest]
            if len(best) == _POINTS and best[0].rank >= (self.rank.dimension or self.rank.lower_bound):
                break
        return best

    def _by_symmetries(self) -> list[FiberPoint]:
        """Random points at which the tangent vectors of the symmetries are the kernel of the differential.

        They are in it, and are all of it where they span as many dimensions as the parameters have beyond
        the proved dimension.
        """
        vectors = zip(self.symmetries.points, self.symmetries.tangents_at_points, strict=True)
        points = [FiberPoint(self.symmetries.p, *at, Evidence.PROVED) for at in vectors]
        if any(point.rank < self.rank.lower_bound for point in points):
            raise DisagreementError(
                f"{self.architecture} has at least the dimension {self.rank.lower_bound}, and symmetries"
                " leave less; one of the two is wrong, please report it"
            )
        best = [point for point in points if point.rank == self.rank.lower_bound]
        if len(best) < _POINTS:
            _refuse_parameters(self.architecture)
        return best[:_POINTS]

    @cached_property
    def error(self) -> float:
        """A bound on the chance that a rank fell short at all points.

        A minor of size n that is not zero vanishes at a random point if the prime divides all its
        coefficients, or with at most the chance degree·n/p (Schwartz and Zippel).
        """
        degree = (self.architecture.degree or 0) + 1
        size: Any = bounds_on_outputs(self.architecture).sum()
        once = min(1.0, degree * self.n / 2 ** (PRIME_BITS - 1))
        once += chance_of_dividing(self.n * (log2(self.n) + size.log2 + log2(degree)))
        return float(min(1.0, once) ** len(self.points))

    def movement(self, f: WeightFunction) -> Determined:
        """What the function determines of a function of the weights, at general weights."""
        answers = [(*point.along(f, "fibers"), point) for point in self.points]
        answer, moved, point = max(answers, key=lambda at: at[0].free)
        free, by = answer.free, answer.factors
        # Where the rank is the largest, what moves at the point moves at general weights.
        is_largest = point.rank == self.rank.upper_bound
        moving: Array = np.zeros((0, f.size)) if is_largest or not free else self.symmetries.moving(f)
        is_free = is_largest or RowSpace(f.size, self.symmetries.p).add(moving) >= free
        if by is not None:
            is_proved = self.symmetries.changing(Change(f, by.blocks), most=self.most) >= self.most
            counted = is_proved and free == int(by.blocks.max()) + 1
            return answer.replace(
                evidence=proved_if(is_proved),
                free_evidence=proved_if(is_free and (counted or self._is_bound(f, free))),
                reason=f"{answer.reason} alone",
                factors=answers[0][0].factors or by,  # rates are compared at the first point
            )
        free_evidence = proved_if(is_free and self._is_bound(f, free))
        if free == 0:
            is_proved = free_evidence is Evidence.PROVED
            reason = f"{answer.reason}, by {'symmetries that are all of the fiber' if is_proved else 'ranks'}"
            return answer.replace(evidence=free_evidence, free_evidence=free_evidence, reason=reason)
        is_proved = is_largest or bool(moving[:, moved].any(axis=0).all())
        if answer.determined:
            is_proved &= self.symmetries.changing(Change(f, None, ~moved), most=self.most) >= self.most
        return answer.replace(evidence=proved_if(is_proved), free_evidence=free_evidence)

    def _is_bound(self, f: WeightFunction, free: int) -> bool:
        """Whether it is proved that f moves in no more directions."""
        needed = self.most - free
        return free in (f.size, self.most) or self.symmetries.changing(Change(f), most=needed) >= needed

    def decided(self, f: WeightFunction, answer: Determined, where: GeneralStudy | StudyAt) -> Determined:
        """An answer with what finite symmetries add, or else a reason why the fiber is irreducible."""
        if f.text in self.coefficients:
            reason = "it has the coefficients of the function"
            answer = answer.replace(status=Determination.GLOBALLY, reason=reason, free=0, factors=None)
            return answer.replace(evidence=Evidence.PROVED, free_evidence=Evidence.PROVED, determined=f.size)
        if answer.status is not Determination.LOCALLY:
            return answer
        changes, reason = self.finite(f, answer.factors), where.irreducible
        if where is self and self.one_orbit:
            reason = f"weights with one function differ by known symmetries ({self.one_orbit})"
        if not reason or (changes and reason == where.irreducible):
            return answer.replace(changes=tuple(changes))
        status, why = Determination.GLOBALLY, f"{answer.reason}; {reason}"
        return answer.replace(status=status, changes=tuple(changes), reason=why)

    def finite(self, f: WeightFunction, by: Factors | None) -> list[tuple[UpTo, DiscreteSymmetry]]:
        """The finite symmetries that change a function that is determined, and how."""
        changed: list[tuple[UpTo, DiscreteSymmetry]] = []
        for symmetry in self.discrete:
            generator = np.random.default_rng(2)
            p = prime_with_roots(symmetry.root, generator)
            theta = random_residues(generator, (self.n,), p)
            arithmetic, arrays = ModularArithmetic(p), as_parameters(self.architecture, theta)
            points = (arrays, *(g(arrays, p) for g in symmetry.generators))
            before, *others = (np.asarray(f.evaluate(arithmetic, at, None)).ravel() % p for at in points)
            kinds = {_change(before, after, symmetry, by, p) for after in others} - {None}
            if kinds:
                changed.append((kinds.pop(), symmetry))
        return changed


def is_linear(architecture: Architecture) -> bool:
    """Whether φ is seen to be linear in the parameters, so that its fibers are affine spaces.

    >>> from agattn.architectures import Linear, Network
    >>> is_linear(Network([Linear(2)], dim=3)), is_linear(Network([Linear(2), Linear(2)], dim=3))
    (True, False)
    """
    if architecture.parameters > MOST_EXPONENTS or architecture.t > MAX_TOKENS:
        return False
    outputs, relations, _ = at_monomials(architecture, weighted_inputs=False)
    if any(sum(exponent for _, exponent in relation) for relation in relations):
        return False
    return all(sum(f.exponents.values()) == 1 for f in outputs if isinstance(f, Monomial))


def proved_if(is_proved: bool) -> Evidence:
    """Proved, or else modular."""
    return Evidence.PROVED if is_proved else Evidence.MODULAR


def _change(before: Residues, after: Residues, group: DiscreteSymmetry, by: Factors | None, p: int) -> UpTo:
    """How a finite symmetry changes values; ``None`` if not, or by factors that are free in any case."""
    if by is not None:
        first = np.unique(by.blocks, return_index=True)[1][by.blocks]
        if (hadamard(before, after[first], p) == hadamard(after, before[first], p)).all():
            return None
    elif (before == after).all():
        return None
    if group.name in ("permutations", "exchanges"):
        return "permutation" if group.name == "permutations" else "exchange"
    is_sign = bool(((before == after) | ((before + after) % p == 0)).all())
    return "sign" if is_sign or group.name == "reflections" else "root"


def common_factors(
    study: GeneralStudy, rows: Sequence[tuple[WeightFunction, Determined]]
) -> tuple[CommonFactor, ...]:
    """What changes by powers of one factor: functions whose rates are proportional.

    It is proved if symmetries that change all of them by powers of the same factors are all of the fiber.
    """
    left = [(f, row.name, row.factors) for f, row in rows if row.factors]
    shared, p, needed = [], study.points[0].p, study.most
    while left:
        rates = left[0][2].rates
        ratios = [_ratio(rates, factors.rates, p) for *_, factors in left]
        alike = [(x, row) for x, row in zip(ratios, left, strict=True) if x is not None]
        left = [row for x, row in zip(ratios, left, strict=True) if x is None]
        if len(alike) > 1:
            exponents = tuple(primitive([x for x, _ in alike]))
            changes = [
                Change(f, by.blocks, exponent=k) for k, (_, (f, _, by)) in zip(exponents, alike, strict=True)
            ]
            evidence = proved_if(study.symmetries.changing(*changes, most=needed) >= needed)
            shared.append(CommonFactor(tuple(name for _, (_, name, _) in alike), exponents, evidence))
    return tuple(shared)


def _ratio(one: Residues, other: Residues, p: int) -> Fraction | None:
    """The number c with other = c·one modulo a prime; ``None`` if there is none, or it is 0."""
    if one.shape != other.shape:
        return None
    at = np.unravel_index(int(np.flatnonzero(one)[0]), one.shape)
    c = int(other[at]) * pow(int(one[at]), -1, p) % p
    return rational_number(c, p) if c and (hadamard(one, np.float64(c), p) == other).all() else None


#: The names of the theorems, and of the places in the documentation where their proofs are.
NEURONS, FEW_NEURONS = "agattn.bilinear-neurons", "agattn.bilinear-few-neurons"


class NeuronTerms(NamedTuple):
    """Functions of the weights of a bilinear layer, as text.

    Attributes:
        layer: its number.
        each: the term of every neuron.
        total: their sum, twice the coefficients of the layer.
    """

    layer: str
    each: str
    total: str


def terms(architecture: Architecture) -> list[NeuronTerms]:
    """Of each bilinear layer of a network the terms of its neurons, and their sum.

    >>> for text in terms(Network([Bilinear(2, 3)], dim=4))[0]:
    ...     print(text)
    1
    D_1[:,i] ⊗ (G_1[i,:]^T U_1[i,:] + U_1[i,:]^T G_1[i,:])
    sum_i D_1[:,i] ⊗ (G_1[i,:]^T U_1[i,:] + U_1[i,:]^T G_1[i,:])
    """
    listed = []
    for step in architecture.places if isinstance(architecture, Network) else ():
        if isinstance(step.layer, Bilinear):
            G, U, D = (step.names[letter] for letter in "GUD")
            each = f"{D}[:,i] ⊗ ({G}[i,:]^T {U}[i,:] + {U}[i,:]^T {G}[i,:])"
            total = f"sum_i {each}" if step.layer.neurons > 1 else each
            listed.append(NeuronTerms(step.label, each, total))
    return listed


def alone(architecture: Architecture) -> Bilinear | None:
    """The bilinear layer that is all of a network; ``None`` of anything else."""
    layers = architecture.layers if isinstance(architecture, Network) else ()
    return layers[0] if len(layers) == 1 and isinstance(layers[0], Bilinear) else None


def neurons_determined(architecture: Architecture) -> str | None:
    """The theorem by which the function of general weights of one bilinear layer determines its neurons.

    >>> for n, out in [(2, 2), (3, 3), (2, 1)]:
    ...     print(neurons_determined(Network([Bilinear(n, out)], dim=4)))
    agattn.bilinear-neurons
    agattn.bilinear-few-neurons
    None
    """
    if (layer := alone(architecture)) is None:
        return None
    d, n, out = architecture.input_shape[0], layer.neurons, layer.out
    if out >= 2 and 2 * n <= d:
        return NEURONS
    return FEW_NEURONS if n == 1 or n <= min(out, comb(d - 1, 2)) else None
