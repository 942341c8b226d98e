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
"""

from __future__ import annotations

from collections.abc import Sequence

from agattn.architectures import Architecture, Network, as_attention
from agattn.architectures.composition import check_arrays
from agattn.architectures.network import DeepNetwork, check_tokens
from agattn.errors import InputError, TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.singular_points.arguments import Closure, Inquiry, Said
from agattn.geometry.singular_points.kind import Kind
from agattn.geometry.singular_points.kinds import kinds
from agattn.geometry.singular_points.model_points import ModelClosure
from agattn.geometry.singular_points.network_points import NetworkClosure
from agattn.geometry.singular_points.point_facts import PointFacts, Singularities
from agattn.geometry.variety.coefficient_map import MOST_DEGREE
from agattn.limits import limits, steps, takes

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

    Source: docs/networks/deep-singularities.md and docs/networks/model-points.md, with the proofs.

    See Also:
        :func:`agattn.strata`, :func:`agattn.tangent_space`, :func:`agattn.critical_points`; ``agattn
        singularities`` in a shell.

    >>> import agattn as ag
    >>> found = ag.singularities(ag.DeepNetwork((3, 3, 2), (3, 3), t=3))
    >>> found["rk M_1 = 1"]
    rk M_1 = 1: differential of rank 19 of 22, tangent space of dimension 29 or more: singular (proved)
    >>> ag.singularities(ag.Network([ag.Linear(2), ag.Linear(3)], dim=3))["rk W_1 = 1"]
    rk W_1 = 1: differential of rank 7 of 8, tangent space of dimension 9 or more: singular (proved)
    """
    architecture, force, seed = as_attention(network), limits().force, limits().seed
    deep = architecture.as_network()
    of = architecture if deep is None else deep
    _check_sizes(of, deep)
    first = kinds(of, pairs)
    if len(first) > MOST_KINDS and not force:
        raise TooLargeError(
            f"{of} has {len(first)} kinds of points; the limit is {MOST_KINDS}. "
            f"Use {argument('force', True)} to start all the same"
        )
    closure = closure_of(of)
    points = []
    chosen = closure.chosen(lambda n: kinds(of, pairs, seed=seed + n) if n else first)
    for kind in steps(chosen, len(first), lambda kind: kind.name):
        points.append(facts(kind, closure))
    closed, sentence, beyond = closure.closedness()
    said = f"{AFFINE} {sentence}" if closure.is_affine else sentence
    return Singularities(architecture, closure.known, tuple(points), closed, said, beyond)


def _check_sizes(architecture: Architecture, network: DeepNetwork | None) -> None:
    """Refuse what is no polynomial, and what is large."""
    if network is None and architecture.degree is None:
        raise InputError(f"{architecture} is normalized; kinds of points are those of polynomial models")
    if limits().force:
        return
    name = architecture.name[:80]
    sizes = [
        (architecture.parameters, "parameters", MOST_PARAMETERS),
        (architecture.degree or 0, "as its degree", MOST_DEGREE),
    ]
    if network is not None:
        sizes.insert(0, (network.depth, "layers", MOST_LAYERS))
    for number, what, most in sizes:
        if number > most:
            raise TooLargeError(
                f"{name} has {number} {what}; the limit is {most}. "
                f"Use {argument('force', True)} to start all the same"
            )
    if network is not None:
        check_tokens(network)
    elif isinstance(architecture, Network):
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
    answers = [said for argument in closure.arguments if (said := argument(inquiry)) is not None]
    said = _strongest(answers, inquiry)
    closure.tangents.forget()
    here, rank, preimages = inquiry.here, inquiry.ranks[0], tuple(at.exact() for at in inquiry.preimages)
    return PointFacts(
        inquiry.kind,
        inquiry.is_zero,
        rank,
        inquiry.fiber,
        closure.dimension,
        inquiry.tangent_lower,
        *said,
        here.evidence,
        preimages,
        inquiry.tangent_upper,
        inquiry.tangent_evidence,
        inquiry.zero_evidence,
        _critical_evidence(rank, closure, here.evidence),
        inquiry.fiber_evidence,
    )


def _strongest(answers: Sequence[Said], inquiry: Inquiry) -> Said:
    """The first answer that is proved, else the first; one about a branch only where nothing else is said."""
    deciding = [said for said in answers if said.conclusion != "smooth branch"]
    proved = [said for said in deciding if said.evidence is Evidence.PROVED]
    conclusions = {said.conclusion for said in proved}
    assert len(conclusions) < 2, f"{inquiry.kind.name}: arguments prove {' and '.join(sorted(conclusions))}"
    undecided = Said("undecided", "none", inquiry.tangent_evidence)
    return [*proved, *deciding, *answers, undecided][0]


def _critical_evidence(rank: int, closure: Closure, rank_evidence: Evidence) -> Evidence:
    """How it is known whether a rank, proved to be no smaller, is below dim M̄, which is at least observed."""
    if rank < closure.dimension:
        return rank_evidence
    return Evidence.PROVED if rank == closure.at_most else Evidence.MODULAR
