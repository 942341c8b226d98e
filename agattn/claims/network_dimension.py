"""What is claimed about the dimension of networks.

A claim about a dimension is judged by the proved interval: confirmed if the interval is the predicted number
alone, refuted if the prediction lies outside, undecided otherwise. An observed rank inside an open interval
is shown, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from agattn.architectures import Architecture, DeepNetwork, SingleLayer, as_attention
from agattn.claims import claim as hypotheses
from agattn.claims.claim import (
    ANY_VALUES,
    INJECTIVE,
    LIGHTNING,
    NO_SKIP,
    NORMALIZED,
    ONE_HEAD,
    ONE_LAYER,
    SOFTMAX,
    TWO_TOKENS,
    Claim,
    Findings,
    Hypothesis,
    Outcome,
)
from agattn.geometry.dimension import dimension as room
from agattn.geometry.dimension import formulas
from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.identifiability.virtual_weights import PREPRINT
from agattn.limits import takes
from agattn.sheet.data import Cell, Lines
from agattn.sheet.result import Key, Result, key
from agattn.systems.network_tasks import DIMENSION

if TYPE_CHECKING:
    from agattn.checkpoints.published import Published
    from agattn.checkpoints.transformers import TransformerDimension

HEADS = Hypothesis[DeepNetwork](
    "several heads, or values of restricted rank",
    lambda network: set(network.heads_by_layer) != {1} or network.value_rank is not None,
)
SKIP = Hypothesis[DeepNetwork]("skip connections", lambda network: network.skip)
SEVERAL_HEADS = Hypothesis[DeepNetwork]("several heads", lambda network: min(network.heads_by_layer) >= 2)


def _of(deep: bool, text: str, holds: Callable[[DeepNetwork], bool]) -> Hypothesis[DeepNetwork]:
    """A hypothesis about networks of several layers, or of one; it holds for all other networks."""
    return Hypothesis(text, lambda network: (network.depth > 1) != deep or holds(network))


# Of a single layer Corollary 3.3 and Theorem 3.9 assume t ≥ 2, and Corollary 3.3 also NOT_A_PRODUCT.
SECTION_3_3 = (
    ONE_HEAD,
    ANY_VALUES,
    NO_SKIP,
    _of(False, "t ≥ 2", lambda network: network.t >= 2),
    _of(True, "t ≥ 3", lambda network: network.t >= 3),
    _of(True, "a_i ≥ 2", lambda network: min(network.ranks) >= 2),
    _of(True, "d_i = δ ≤ d_0, d_l", lambda network: network.bottleneck is not None),
    _of(True, "δ ≥ 2", lambda network: network.bottleneck != 1),
)
NOT_A_PRODUCT = _of(
    False,
    hypotheses.NOT_A_PRODUCT.text,
    lambda network: hypotheses.NOT_A_PRODUCT.holds(SingleLayer(*network.dims, *network.ranks)),
)


def equation_14(network: DeepNetwork) -> int:
    """HMK's equation 14, or equation 16 for a normalized network, also where the hypotheses fail.

    Σ α_i(2d_{i−1} − α_i) + δ(d_0 + d_l − δ) − l with α_i = min(a_i, d_{i−1}), and l more if normalized.
    Where the inner widths differ their common value δ is replaced by the count of the parameters in V
    modulo GL(d_i).

    >>> equation_14(DeepNetwork((10, 10, 10), (2, 2), 3, normalization="softmax"))
    172
    """
    dims = network.dims
    attention = sum(min(a, d) * (2 * d - min(a, d)) for a, d in zip(network.ranks, dims, strict=False))
    values = sum(d * e for d, e in pairwise(dims)) - sum(d * d for d in dims[1:-1])
    return attention + values - (network.depth if network.is_lightning else 0)


class ByPaper(Result):
    """What HMK say about the dimension of a network: equation 14, or 16 with a normalization, or 7."""

    equation: str
    value: Key[int, "The value that the equation gives."]
    failing: Key[tuple[str, ...], "The hypotheses that do not hold."]
    defect: Key[int | None, "The value less the dimension; null where only bounds are known."]

    @key
    def hypotheses_hold(self) -> bool:
        """Whether the hypotheses of the equation hold for this network."""
        return not self.failing

    def summary(self) -> str:
        """The equation and its value."""
        return f"{self.equation}: {self.value}"


class DimensionByPaper(Dimension, name="dimension"):
    """A dimension, and what HMK say beside it."""

    paper: Key[
        ByPaper | None, "Equation 7, 14 or 16, whether or not it applies; null for models and maps."
    ] = None

    def _formulas(self) -> list[tuple[Cell, ...]]:
        if (paper := self.paper) is None:
            return super()._formulas()
        failing = paper.failing
        hypotheses = Lines(("its hypotheses do not hold:", *failing)) if failing else "its hypotheses hold"
        return [*super()._formulas(), (f"HMK, {paper.equation}", paper.value, "", hypotheses)]

    def _lines(self) -> list[str]:
        *lines, last = super()._lines()
        if (paper := self.paper) is not None:
            name = "equation 14" if self.architecture.degree else "equation 16"
            failing = f"does not apply (needs {', '.join(paper.failing)})" if paper.failing else "applies"
            agreement = "agrees" if paper.defect == 0 else f"would give {paper.value}"
            lines.append(f"the paper's {name} {failing}; it {agreement}")
        return [*lines, last]


def by_paper(found: Dimension) -> ByPaper | None:
    """What HMK say beside a dimension found; ``None`` where the architecture is no network of theirs.

    >>> from agattn.geometry.dimension.dimension import dimension
    >>> paper = by_paper(dimension(DeepNetwork((3, 3, 3), (1, 2), t=3)))
    >>> paper, paper.failing, paper.defect
    (equation 14: 20, ('a_i ≥ 2',), 2)
    """
    if (network := found.architecture.as_network()) is None:
        return None
    number = 16 if not network.is_lightning else 14 if network.depth > 1 else 7
    claim, value = COROLLARY_3_8 if network.is_lightning else CONJECTURE_3_10, equation_14(network)
    failing = tuple(claim.failing_hypotheses(network))
    defect = None if found.dimension is None else value - found.dimension
    return ByPaper(f"equation {number}", value, failing, defect)


def with_paper(found: Dimension) -> DimensionByPaper:
    """A dimension with what HMK say, as the command line prints it."""
    return DimensionByPaper(**structs.asdict(found), paper=by_paper(found))


@takes("seed", "force", "workers", "progress")
def dimension(architecture: Architecture | Published) -> DimensionByPaper | TransformerDimension:
    """The dimension of the neuromanifold of any architecture, with a proof from both sides where they meet.

    A layer counts as a network of one layer. If the rank of a Jacobian would take long and a theorem gives
    the dimension, the answer has the theorem and its hypotheses, which were checked. For other large networks
    it has a proved interval.

    For a published transformer the table shows one layer of its attention, with and without softmax and
    positions: how many parameters are redundant, by which symmetry, and bounds for all layers.

    Args:
        architecture: a layer, a network of attention or of any layers, a polynomial map, or anything with the
            members of :class:`agattn.architectures.protocol.Architecture`; or a published transformer of
            :func:`agattn.from_config`, whose layer is known at full size, and whose stack has bounds.
        force: take the rank of a Jacobian of any size, also where a theorem knows it.

    Raises:
        InputError: if it is no architecture, or is beyond the limits and known by no theorem.

    See Also:
        :func:`agattn.symmetries`, :func:`agattn.ideal`, :func:`agattn.fiber`, :func:`agattn.degree`; ``agattn
        dimension`` in a shell.

    >>> import agattn as ag
    >>> ag.dimension(ag.DeepNetwork(dims=(3, 3, 3), ranks=(1, 2), t=3))
    M(3,3,3; 1,2), t = 3: dimension 18 (proved), expected 18
    >>> layer = ag.dimension(ag.SingleLayer(768, 64, 64))
    >>> layer.dimension, layer.theorem
    (143359, 'theorem-3.2')
    """
    if not hasattr(architecture, "as_network"):  # as all architectures have
        from agattn.checkpoints.published import Published
        from agattn.checkpoints.transformers import transformer_dimension

        if isinstance(architecture, Published):
            return transformer_dimension(architecture)
    known = as_attention(cast(Architecture, architecture))
    return with_paper(room.dimension(known))


def computed_dimension(found: Dimension) -> Any:
    """The dimension, or the rank observed and the proved interval."""
    low, high = found.lower_bound, found.upper_bound
    return found.dimension if low == high else {"observed": found.dimension, "at_least": low, "at_most": high}


def unproved(found: Dimension) -> str:
    """What the largest rank says where the bounds do not meet."""
    best = f". The largest rank found is {found.dimension} ({found.evidence}), which proves no upper bound"
    return best if found.lower_bound < found.upper_bound else ""


def attained(found: Dimension, bound: int) -> str:
    """Whether the dimension is equal to an upper bound."""
    if found.lower_bound == bound:
        return "attained"
    return "not attained" if found.upper_bound < bound else "not attained at any point tried"


def _judge(
    predict: Callable[[DeepNetwork], Any], scope: str = ""
) -> Callable[[DeepNetwork, Findings], Outcome]:
    """Judges dim = n, or dim ≤ n where the prediction is ``{"at_most": n}``, by the proved interval."""

    def judge(network: DeepNetwork, findings: Findings) -> Outcome:
        found: Dimension = findings.need(DIMENSION)
        low, high, predicted = found.lower_bound, found.upper_bound, predict(network)
        witness = f"at least {low}: {found.lower.reason}; at most {high}: {found.upper_bound_reason}"
        witness, computed = witness + unproved(found), computed_dimension(found)
        if isinstance(predicted, dict):
            bound = predicted["at_most"]
            holds = False if low > bound else True if high <= bound else None
            witness += f"; the bound {bound} is {'exceeded' if holds is False else attained(found, bound)}"
            return Outcome(holds, computed, witness, details={"bound": bound, "scope": scope})
        holds = False if not low <= predicted <= high else True if low == high else None
        # The prediction is named only where it differs: outside the hypotheses no prediction is shown.
        witness += "" if holds else f"; the formula gives {predicted}"
        return Outcome(holds, computed, witness, details={"scope": scope} if scope else {})

    return judge


def _predict_3_8(network: DeepNetwork) -> int:
    return equation_14(network)  # by name, as tests put another in its place


def heads_dimension(network: DeepNetwork) -> int:
    """Σ_h a(2d − a) + β(d + d' − β), with a ≤ d and β ≤ d, d'.

    >>> heads_dimension(DeepNetwork((4, 3), (2,), t=2, heads=2, normalization="softmax"))
    48
    """
    (d, d_out), a = network.dims, min(network.ranks[0], network.dims[0])
    beta = min(d, d_out, network.value_rank or d)
    return network.heads_by_layer[0] * (a * (2 * d - a) + beta * (d + d_out - beta))


def _predict_general(network: DeepNetwork) -> int:
    return formulas.network_dimension(network)


def _predict_at_most(network: DeepNetwork) -> dict[str, int]:
    return {"at_most": formulas.network_dimension(network)}


LOCALLY = (
    "equation 16 alone: generic fibers of (M, L) ↦ φ are discrete. That they are single points is not "
    f"checked: {PREPRINT}, for this normalizer and all other injective analytic ones, in the effective "
    "parameters (M, L). For smooth normalizers it is open"
)

COUNTED = (
    "that no computed Jacobian has a larger rank; for all Jacobians the bound is proved by counting, and the "
    "bound is the count itself"
)

#: Why no dimension of a network has a certificate.
NO_RANKS = "the checker computes no rank of a differential in the weights of a network"

COROLLARY_3_8 = Claim(
    "corollary-3.8",
    "dim M = Σ α_i(2d_{i−1} − α_i) + δ(d_0 + d_l − δ) − l, α_i = min(a_i, d_{i−1}); for l = 1 with "
    "d_0 d_1 in place of the second term",
    r"\dim\mathcal{M} = \sum_i \alpha_i(2d_{i-1} - \alpha_i) + \delta(d_0 + d_l - \delta) - l",
    (LIGHTNING, *SECTION_3_3, NOT_A_PRODUCT),
    (DIMENSION,),
    _predict_3_8,
    _judge(_predict_3_8),
    source="HMK, Corollary 3.8, equation 14",
    certificate=NO_RANKS,
    brief="dim M = {}",
)
CONJECTURE_3_10 = Claim(
    "conjecture-3.10",
    "Generic fibers of (M, L) ↦ φ are single points for normalized networks; so that dim M is equation "
    "14 plus l, equation 16",
    r"\dim\mathcal{M} = \sum_i \alpha_i(2d_{i-1} - \alpha_i) + \delta(d_0 + d_l - \delta)",
    (NORMALIZED, INJECTIVE, *SECTION_3_3),
    (DIMENSION,),
    _predict_3_8,
    _judge(_predict_3_8, LOCALLY),
    source="HMK, Conjecture 3.10, equation 16",
    certificate=NO_RANKS,
    brief="generic fibers are points, dim M = {}",
)

CLAIMS: tuple[Claim[DeepNetwork], ...] = (
    COROLLARY_3_8,
    CONJECTURE_3_10,
    Claim(
        "agattn.network-dimension",
        "The dimension of a network with one head in each layer, of any widths, ranks and t, is the upper "
        "bound that counting at reduced widths e_i gives. The last term is l without a normalization, for "
        "the rescalings, and 0 with a normalization. A normalized network of one token is linear, of rank at "
        "most r = min d_i, and has the dimension r(d_0 + d_l − r)",
        r"\dim\mathcal{M} = \sum_i D_i + \sum_i e_{i-1}e_i - \sum_{0<i<l} e_i^2 - \lambda, \quad "
        r"\lambda \in \{l, 0\}",
        (ONE_HEAD, ANY_VALUES, NO_SKIP),
        (DIMENSION,),
        _predict_general,
        _judge(_predict_general),
        certificate=NO_RANKS,
        brief="dim M = {}",
    ),
    Claim(
        "agattn.multi-head-dimension",
        "With several heads, or values of restricted rank, the dimension is at most the least of the known "
        "bounds of each layer, added up, less the symmetries between layers: e_i r_i, if r_i of the e_i "
        "coordinates of layer i are linearly independent; and at most the number N of all coefficients",
        r"\dim\mathcal{M} \leq \min\Bigl(N, \sum_i \min_k B_{i,k} - \sum_{0<i<l} e_i r_i\Bigr)",
        (HEADS, NO_SKIP),
        (DIMENSION,),
        _predict_at_most,
        _judge(_predict_at_most, COUNTED),
        certificate=NO_RANKS,
        brief="dim M at most {}",
    ),
    Claim(
        "agattn.softmax-heads",
        "The dimension of one softmax layer with several heads is the sum of those of all (A_h, V_h), of "
        "ranks a and β: for t ≥ 2 general heads have no symmetry but GL(a), GL(β) and permutations",
        r"\dim\mathcal{M} = h\bigl(a(2d - a) + \beta(d + d' - \beta)\bigr)",
        (SOFTMAX, ONE_LAYER, TWO_TOKENS, SEVERAL_HEADS),
        (DIMENSION,),
        heads_dimension,
        _judge(heads_dimension),
        source="Henry 2026",
        certificate=NO_RANKS,
        beyond=False,
        brief="dim M = {}, the sum over heads",
    ),
    Claim(
        "agattn.skip-dimension",
        "With skip connections the dimension is the sum of those of the layers",
        r"\dim\mathcal{M} = \sum_i \dim\mathcal{M}_i",
        (SKIP,),
        (DIMENSION,),
        _predict_general,
        _judge(_predict_general),
        certificate=NO_RANKS,
        brief="dim M = {}, the sum over layers",
    ),
)
