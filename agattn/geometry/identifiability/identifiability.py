r"""Which parameters a function determines: each array, products of arrays, and functions that a user names.

>>> from agattn.architectures import SingleLayer
>>> found = identifiability(SingleLayer(3, 2, 2))
>>> for row in (*found.parameters, *found.functions):
...     print(row)
K: not determined, 4 of 6 entries are free (proved)
Q: not determined, 4 of 6 entries are free (proved)
V: determined globally up to a factor (proved)
K^T Q: determined globally up to a factor (proved)
>>> print(*found.common_factors)
one common factor s: V by s, K^T Q by s⁻¹ (proved)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agattn.architectures import Architecture, Jet
from agattn.architectures.functions import WeightFunction, read_function, whole_array
from agattn.architectures.products import adjacent_products
from agattn.calls import is_list, shown
from agattn.errors import InputError, TooLargeError, UndecidedError, argument, worded
from agattn.geometry.dimension.formulas import network_bound
from agattn.geometry.dimension.jacobian import check_size
from agattn.geometry.identifiability.at_weights import identifiability_at
from agattn.geometry.identifiability.collapse import MOST_LAYERS, least_order
from agattn.geometry.identifiability.determined import Determined, Identifiability
from agattn.geometry.identifiability.general_weights import Factors, GeneralStudy, common_factors, row, table
from agattn.limits import limits, steps, takes

#: The most parameters without ``force``: the kernel of a matrix with as many columns is taken.
MAX_PARAMETERS = 3_000
#: Products of arrays with more entries are left out, and named functions refused without ``force``.
MAX_ENTRIES = 20_000


@takes("seed", "force", "progress")
def identifiability(
    architecture: Architecture,
    functions: str | Sequence[str] = (),
    at: Mapping[str, Any] | None = None,
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
    >>> found = ag.identifiability(heads, ["K_1[1]^T Q_1[1] + K_1[2]^T Q_1[2]"])
    >>> for row in found.functions:
    ...     print(row)
    K_1^T Q_1: determined locally up to a factor for each matrix, and their order (proved)
    K_1[1]^T Q_1[1] + K_1[2]^T Q_1[2]: not determined, 2 of 9 entries are free (proved)
    """
    studied = architecture if architecture.degree is not None else _deciding_jet(architecture, at)
    if architecture.parameters > MAX_PARAMETERS and not limits().force:
        raise TooLargeError(
            f"{architecture.name} has {architecture.parameters} parameters; which are determined is found"
            f" for at most {MAX_PARAMETERS}. {argument('force', True)} tries anyway"
        )
    if not limits().force:
        check_size(architecture.as_network() or architecture)
    asked = _asked(architecture, functions)
    if at is not None:
        return identifiability_at(architecture, asked, at)
    study = GeneralStudy(studied)
    rows: list[Determined] = []
    rates: list[tuple[str, WeightFunction, Factors]] = []
    for f, is_array in steps(asked, len(asked), lambda one: one[0].text):
        answer = study.movement(f)
        rows.append(row(study, f, answer, is_array))
        if answer.factors:
            rates.append((rows[-1].name, f, answer.factors))
    found = table(study, rows, common_factors(study, rates), at_weights=False)
    return found if studied is architecture else _by_jet(found, architecture, study)


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


def _by_jet(found: Identifiability, architecture: Architecture, study: GeneralStudy) -> Identifiability:
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
    return found.replace(architecture=architecture, decided_by=reason)


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
    found = [read_function(text, shapes) for text in adjacent_products(architecture)]
    listed = {f.text: f for f in [*found, *own] if f in own or f.size <= MAX_ENTRIES}
    return [*((whole_array(name, shapes), True) for name in shapes), *((f, False) for f in listed.values())]
