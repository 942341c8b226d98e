r"""Which parameters a function determines: each array, products of arrays, and functions that a user names.

>>> from agattn.architectures import SingleLayer
>>> found = identifiability(SingleLayer(3, 2, 2))
>>> found
M(3,2,2), at general weights: the fiber has dimension 5 (proved)
K      nonidentifiable, 4 of 6 entries are free (proved)
Q      nonidentifiable, 4 of 6 entries are free (proved)
V      globally up to a factor (proved)
K^T Q  globally up to a factor (proved)
>>> print(*found.common_factors)
one common factor s: V by s, K^T Q by s⁻¹ (proved)

**At given weights** the fiber is known near the weights and, of one layer, altogether. At special weights the
fiber may be larger than at general ones, and a rank at one point says less. Three arguments decide:

- *The fiber is known near the weights*: symmetries and linear spaces of weights with one function have the
  dimension that ranks allow. Then what is 0 or not at a general point of this family decides.
- *The differential has the largest rank that it has anywhere.* Then the fiber is smooth, and what is true of
  general weights by identities, such as that a product does not move, is true at these weights.
- Else what moves along a part of the fiber that is known is not determined, and all else is undecided.

>>> import agattn as ag
>>> for V in ([[1, 0]], [[0, 0]]):
...     found = ag.identifiability(ag.SingleLayer(2, 1, 1), at={"K": [[1, 2]], "Q": [[0, 1]], "V": V})
...     print(found["V"], found["K^T Q"], sep="; ")
V: locally up to a factor (proved); K^T Q: locally up to a factor (proved)
V: locally (modular); K^T Q: nonidentifiable, 3 of 4 entries are free (proved)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import flint
import numpy as np
from msgspec import structs

from agattn.algebra.residues import Residues, RowSpace, hadamard, random_residues
from agattn.architectures import Architecture, Jet, SingleLayer
from agattn.architectures.functions import WeightFunction, read_function, whole_array
from agattn.architectures.layer import as_layer
from agattn.architectures.products import adjacent_products
from agattn.architectures.protocol import as_parameters, as_rows
from agattn.calls import is_list, shown
from agattn.errors import InputError, TooLargeError, UndecidedError, argument, worded
from agattn.evidence import Evidence, weakest
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.dimension.jacobian import check_size
from agattn.geometry.dimension.lie_algebra import applied
from agattn.geometry.identifiability import fibers
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.identifiability.general_weights import (
    Determination,
    Determined,
    DeterminedFunction,
    FiberPoint,
    GeneralStudy,
    Identifiability,
    KnownSymmetries,
    common_factors,
    kernel_point,
    known,
)
from agattn.geometry.identifiability.network_fibers import (
    NetworkComponent,
    network_fiber,
    weights_of,
)
from agattn.geometry.identifiability.softmax import MOST_LAYERS, least_order
from agattn.geometry.identifiability.symmetries import act
from agattn.geometry.identifiability.weights import weights_of_layer
from agattn.limits import limits, steps, takes

#: The most parameters without ``force``: the kernel of a matrix with as many columns is taken.
MAX_PARAMETERS = 3_000
#: Products of arrays with more entries are left out, and named functions refused without ``force``.
MAX_ENTRIES = 20_000


@takes("seed", "force", "progress")
def identifiability(
    architecture: Architecture, functions: str | Sequence[str] = (), at: Mapping[str, Any] | None = None
) -> Identifiability:
    r"""For each parameter array of a model, and for products of arrays: does the function determine it?

    Args:
        architecture: any polynomial one, such as a lightning layer, a network of layers, a polynomial map; or
            a softmax network of at most three layers without skip connections, which is decided by its jet.
        functions: further functions of the arrays, each as text such as ``"K_1^T Q_1"``; the grammar is that
            of :mod:`agattn.architectures.functions`.
        at: given weights, an array for each parameter, in place of general ones.
        seed: of all random choices. It never changes what is proved, only (rarely) whether.
        force: attempt architectures and functions beyond the limits on sizes.

    Raises:
        InputError: if the architecture is neither polynomial in its weights nor a softmax network, a function
            cannot be read, or the weights are those of another architecture.
        UndecidedError: for a softmax network with several heads, if its jet has a smaller dimension.
        TooLargeError: if it has more than 3000 parameters, or a function more than 20000 entries.
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
    if architecture.parameters > MAX_PARAMETERS and not limits().force:
        raise TooLargeError(
            f"{architecture.name} has {architecture.parameters} parameters; which are determined is found"
            f" for at most {MAX_PARAMETERS}. {argument('force', True)} tries anyway"
        )
    if not limits().force:
        check_size(architecture)
    asked = _asked(architecture, functions)
    given = None if at is None else exact_weights(architecture, at)
    study = GeneralStudy(studied)
    at_weights = None if given is None else StudyAt(study, given)
    answers: GeneralStudy | StudyAt = at_weights or study
    rows: list[tuple[WeightFunction, Determined]] = []
    for f, is_array in steps(asked, len(asked), lambda row: row[0].text):
        row = study.decided(f, answers.movement(f), answers.irreducible)
        if not is_array:
            row = DeterminedFunction(**structs.asdict(row), expression=f.text)
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
        if f.size > MAX_ENTRIES and not limits().force:
            raise TooLargeError(
                f"{f.text} has {f.size} entries; functions of at most {MAX_ENTRIES} are studied."
                f" {argument('force', True)} tries anyway"
            )
    products = [read_function(text, shapes) for text in adjacent_products(architecture)]
    listed = {f.text: f for f in [*products, *own] if f in own or f.size <= MAX_ENTRIES}
    return [*((whole_array(name, shapes), True) for name in shapes), *((f, False) for f in listed.values())]


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


def exact_weights(architecture: Architecture, given: Mapping[str, Any]) -> ExactWeights:
    """Weights that are given, as exact weights of the network that the architecture is, or of itself.

    Raises:
        InputError: if the weights are not those of the architecture.
    """
    network = architecture.as_network() or architecture
    if not isinstance(architecture, SingleLayer):
        return weights_of(network, given)
    own = ExactWeights(architecture, given)
    return ExactWeights(network, as_parameters(network, np.array(own.vector, dtype=object)))


class StudyAt:
    """What all questions at given weights share.

    Attributes:
        study: at general weights.
        at: the weights.
        families: the parts of the fiber through them that are known.
        point: the weights modulo a prime, with the kernel of the differential.
    """

    def __init__(self, study: GeneralStudy, at: ExactWeights) -> None:
        self.study, self.at, architecture = study, at, study.architecture
        network = architecture.as_network() or architecture
        fiber = network_fiber(network, self.at)
        self.fiber_dimension, self.theorem = fiber.dimension, None
        self.fiber_evidence = known(fiber.is_exact and fiber.dimension_evidence is Evidence.PROVED)
        generator = np.random.default_rng([limits().seed, 2])
        p = self.at.prime(generator)
        self.point: FiberPoint = kernel_point(network, self.at.residues(p)[0], p, generator)
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
        fiber = fibers.fiber(weights_of_layer(layer, weights))
        is_one = fiber.case in ("line", "double line") and fiber.ranks["r_a"].rank == layer.alpha
        return "the whole fiber is one orbit (theorem-3.2)" if is_one else ""

    def movement(self, f: WeightFunction) -> Determined:
        """What the function of these weights determines of a function of the weights."""
        general = self.study.movement(f)
        largest = known(self.point.rank >= self.study.rank.upper_bound)
        if self.is_largest and general.status is Determination.LOCALLY:
            evidence = weakest([general.evidence, largest])
            value, D = self.point.derivative(f)
            if general.factors is None or value.any():
                free = RowSpace(f.size, self.point.p).add(D)
                return general.replace(free=free, evidence=evidence, free_evidence=evidence)
        if not self.is_all:
            return self._moving(f)
        answer = self._along(f)
        if largest is not Evidence.PROVED:
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
        free_evidence = known(answer.free in (f.size, len(part.tangents)))
        evidence = part.evidence if answer.status is Determination.NOT else Evidence.MODULAR
        return answer.replace(evidence=evidence, free_evidence=free_evidence)

    def _moving(self, f: WeightFunction) -> Determined:
        """The answer where only a part of the fiber is known: what moves is not determined."""
        parts = list(self.families)
        if self.is_largest:  # the fiber is smooth, and its tangent space is the kernel
            largest = known(self.point.rank >= self.study.rank.upper_bound)
            parts.append(replace(self.point, evidence=largest))
        where = "a part of the fiber that is known"
        answers = [part.along(f, where) for part in parts]
        moved = np.any([mask for _, mask in answers], axis=0)
        widest, _ = max(answers, key=lambda answer: answer[0].free)
        if (freely := any(a.free and a.factors is None for a, _ in answers)) and moved.all():
            return widest.replace(
                status=Determination.NOT,
                evidence=weakest(part.evidence for part in parts),
                free_evidence=known(widest.free == f.size),
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
