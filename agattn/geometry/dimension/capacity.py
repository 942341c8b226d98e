r"""How large a space the functions of a network lie in: upper bounds on the dimension of its neuromanifold.

**All monomials.** An output of a network is a polynomial in X of known degrees. If every token is mapped by
itself, it is one in the d entries of a token, and the network is given by its rows; if tokens are mixed
without regard to their order, by its rows at the first token, in all entries of X.

**Perceptrons, cut into pieces.** Let W_1, ..., W_L be matrices with powers between them, and B(i, j) a bound
for W_{i+1}, ..., W_j, of widths n_i to n_j. Then B(i, j) ≤ B(i, k) + B(k, j) − n_k, as a factor for each
neuron at the cut can be moved from one piece to the other, and these n_k factors act freely where no row is
zero. Pieces are bounded by their monomials; without powers by the matrices of rank at most m = min n_k, of
which there are m(n_i + n_j − m) dimensions; and with two matrices, the second with one row, by the theorem on
sums of powers:

**Alexander and Hirschowitz** (1995): sums of s r-th powers of linear forms in n variables, r ≥ 3, have the
dimension min(sn, C(n+r−1, r)), and one less for (n, r, s) = (3, 4, 5), (4, 4, 9), (5, 4, 14) and (5, 3, 7).
For r = 2 they are the quadrics of rank at most s.

**Rotary positions.** Rotations of the pairs of rows of K and Q that positions turn commute with these, and so
leave the function. They are one-parameter groups with tangent vectors like those of the known symmetries.

**Layer by layer.** The bounds of the layers add up, less the groups between them: the factors of neurons,
and d·r for GL(d) if r rows of the layer before are linearly independent functions, as is shown in
:mod:`~agattn.geometry.dimension.formulas`. Where skip connections leave no group between the layers, these
bounds are simply added.

>>> from agattn.architectures import Network, Perceptron
>>> capacity_bound(Network([Perceptron([5, 1], degree=4)], dim=3)).reason
'sums of 5 powers of degree 4 in 3 variables (Alexander and Hirschowitz)'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import comb, prod

import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import RowSpace, random_prime, random_residues
from agattn.architectures import (
    Architecture,
    Attention,
    Convolution,
    Network,
    PolynomialMap,
    draw_parameters,
)
from agattn.architectures.layered import Wire
from agattn.geometry.dimension.formulas import Bound, all_of, monomials, network_bound, shared_forms_bounds
from agattn.geometry.dimension.symmetries import known_groups, orbit_dimension, symmetry_bound
from agattn.limits import limits

#: Degree, number of powers and of variables where sums of powers fill one dimension less than expected.
_DEFECTIVE = {(3, 4, 5), (4, 4, 9), (5, 4, 14), (5, 3, 7)}
# With more groups that are known, the contractions are not gone through.
_MOST_GROUPS = 5000


def capacity_bound(network: Architecture) -> Bound:
    """The least of the known bounds; another seed rarely gives another bound, and always a proved one."""
    if isinstance(network, PolynomialMap):
        bounds = [Bound(network.parameters, "the parameters")]
        outputs, variables = prod(network.output_shape), prod(network.inputs or (1,))
        if network.inputs is None:
            bounds.append(Bound(outputs, "the coordinates of the output"))
        elif (space := monomials(variables, network.input_degrees)) is not None:
            bounds.append(all_of(outputs, space, variables))
        return min(bounds, key=lambda bound: bound.value)
    if not isinstance(network, Network):
        return symmetry_bound(network)
    if len(network.layers) == 1 and (inner := network.layers[0].residual()):  # a translation of these
        return capacity_bound(Network(inner, *network.input_shape))
    if (smaller := reduced(network)) != network:
        bound = capacity_bound(smaller)
        used = f"{bound.reason}, with the sizes that heads can use: {in_place(network, smaller)}"
        return Bound(bound.value, used)
    known = network.as_network()
    found = (
        symmetry_bound(network),
        _monomials(network),
        _pieces(network),
        layers_bound(network),
        network_bound(known) if known else None,
        _shared_forms(network),
    )
    return min((bound for bound in found if bound), key=lambda bound: bound.value)


def reduced(network: Network) -> Network:
    """A network with the same functions, up to limits, and no latent, rank or group larger than needed.

    >>> from agattn import Attention
    >>> given = Network([Attention(3, 2, heads=2, value_rank=1, kv_latent=9)], dim=8, tokens=2)
    >>> in_place(given, reduced(given))
    'kv_latent 6 in place of 9'
    """
    shape, found = network.input_shape, []
    for layer in network.layers:
        found.append(layer.reduced(shape))
        shape = Network((layer,), *shape).output_shape
    return Network(tuple(found), *network.input_shape)


def in_place(network: Network, smaller: Network) -> str:
    """The sizes that are smaller, in words."""
    said = [
        f"{key.name} {now} in place of {before}"
        for given, layer in zip(network.layers, smaller.layers, strict=True)
        for key in fields(given)
        if (now := getattr(layer, key.name)) != (before := getattr(given, key.name)) and now is not None
    ]
    return ", ".join(said)


def _shared_forms(network: Network) -> Bound | None:
    """The forms of one lightning layer with groups or latents, after the choice of the latents."""
    layer, d = network.layers[0], network.dim
    if len(network.layers) > 1 or not isinstance(layer, Attention) or layer.is_plain:
        return None
    if layer.rotary or layer.normalization != "none":
        return None
    r, rho = layer.kv_latent or d, layer.q_latent or d
    a, b = min(layer.rank, r), min(layer.value_rank or layer.out, r)
    forms = min(shared_forms_bounds(r, rho, layer.out, a, b, layer.groups, layer.heads))
    latents = r * (d - r) + rho * (d - rho)
    return Bound(forms.value + latents, f"{forms.reason}{', and the choice of the latents' * bool(latents)}")


def bound_at_any_size(network: Network) -> Bound:
    """The least of the bounds that need no matrices of the size of a Jacobian.

    The groups are those that contractions of the whole network show; with very many neurons, or with filters,
    those of its layers and between them, which are found sooner.
    """
    filters = any(isinstance(place.layer, Convolution) for place in network.places)
    many = len(network.symmetries) > _MOST_GROUPS
    groups = network.symmetries if many or filters else known_groups(network)
    orbit = orbit_dimension(groups, network.shapes)
    left = f", but for {', '.join(dict.fromkeys(map(str, orbit.left_out)))}" if orbit.left_out else ""
    reason = f"the parameters, minus the dimension of the symmetries' orbits{left}"
    found = Bound(network.parameters - orbit.dimension, reason), _monomials(network), _pieces(network)
    return min((bound for bound in found if bound), key=lambda bound: bound.value)


def layers_bound(
    network: Architecture, further: Callable[[Network], Bound | None] = lambda layer: None
) -> Bound | None:
    """The bounds of all layers, less the groups between them; ``further`` may know another of a layer.

    ``None`` for what has not several layers.
    """
    if not isinstance(network, Network) or len(network.layers) < 2:
        return None
    shape, total, found = network.input_shape, 0, []
    for i, layer in enumerate(network.layers, 1):
        alone = Network((layer,), *shape)
        if alone.parameters:
            known = capacity_bound(alone), further(Network(layer.residual() or (layer,), *shape))
            bound = min((one for one in known if one), key=lambda one: one.value)
            total += bound.value
            found.append(f"{bound.value} for layer {i} ({bound.reason})")
        shape = alone.output_shape
    groups = 0
    for wire in network.wires:
        one, two = (place.label.partition("_")[0] for place in (wire.before, wire.after))
        if one != two:
            groups += _orbit(network, wire)
    return Bound(total - groups, f"{', '.join(found)}, less {groups} for the groups between them")


def _orbit(network: Network, wire: Wire) -> int:
    """The dimension of the orbits of the group between two layers, or less."""
    (first, *_) = wire.symmetries()
    if first.name != "GL(d)":
        return len(wire.symmetries())
    generator = np.random.default_rng(limits().seed)
    p, number = random_prime(generator), int(wire.before.label.partition("_")[0])
    shape = network.input_shape
    for layer in network.layers[: number - 1]:
        shape = Network((layer,), *shape).output_shape
    alone = Network((network.layers[number - 1],), *shape)
    if alone.degree is None:
        return 0  # a softmax has no values modulo p
    weights = draw_parameters(alone, lambda shape: random_residues(generator, shape, p))
    X = random_residues(generator, (first.size, *shape), p)
    values = alone.evaluate(ModularArithmetic(p), weights, X)
    space = RowSpace(values.shape[0] * values.shape[2], p)
    return first.size * space.add(values.swapaxes(0, 1).reshape(first.size, -1))


def sums_of_powers(n: int, s: int, r: int) -> int:
    """The dimension of the sums of s r-th powers of linear forms in n variables, with coefficients.

    >>> [sums_of_powers(3, 5, 4), sums_of_powers(3, 6, 4), sums_of_powers(3, 2, 2)]
    [14, 15, 5]
    """
    if r == 1:
        return n
    if r == 2:
        rank = min(n, s)
        return rank * (2 * n - rank + 1) // 2
    return min(s * n, comb(n + r - 1, r)) - ((n, r, s) in _DEFECTIVE)


def _monomials(network: Network) -> Bound | None:
    """The monomials in the entries of X of the degrees that may occur, for all outputs that may differ."""
    degrees = network.input_degrees
    if degrees is None:
        return None
    rows, tokens = network.output_shape
    alone, ordered, pooled = True, False, False
    for place in network.places:
        layer, found = place.layer, place.derived.degrees
        linear = found is not None and found.most <= 1  # else products of tokens after their sum
        alone = alone and layer.mixes in ("nothing", "sum") and (linear or not pooled)
        ordered, pooled = ordered or layer.mixes == "order", pooled or layer.mixes == "sum"
    variables, outputs = (network.dim, rows) if alone else (network.dim * network.t, rows)
    if ordered:
        outputs *= tokens
    space = monomials(variables, degrees)
    return None if space is None else all_of(outputs, space, variables)


def _pieces(network: Network) -> Bound | None:
    """The bound of a network of matrices and powers, cut into pieces as is best."""
    widths, powers, power, pooled = [network.dim], [], 1, False
    for i, step in enumerate(network.steps):
        if isinstance(step, str):  # a skip connection
            return None
        if step.is_matrix:
            powers += [power] if i else []
            widths.append(step.layer.output_shape(step.shape)[0])
            power = 1
        elif step.power and i and not pooled:
            power *= step.power
        elif step.layer.mixes == "sum" and step.derived.passes == power == 1 and not step.names:
            pooled = True
        else:
            return None
    last = len(widths) - 1
    if last < 1 or power > 1:
        return None
    best: dict[tuple[int, int], Bound] = {}
    for size in range(1, last + 1):
        for i in range(last + 1 - size):
            j = i + size
            found = [_whole(widths[i : j + 1], powers[i : j - 1])]
            for k in range(i + 1, j):
                one, two, n = best[i, k], best[k, j], widths[k]
                cut = f"{one.reason}; and {two.reason}; less {n} factors of neurons between them"
                found.append(Bound(one.value + two.value - n, cut))
            best[i, j] = min(found, key=lambda bound: bound.value)
    return best[0, last]


def _whole(widths: list[int], powers: list[int]) -> Bound:
    """The bound of one piece."""
    n, *_, m = widths
    if not powers:
        return Bound(n * m, f"matrices of size {m} × {n}")
    r = prod(powers)
    if r == 1:
        rank = min(widths)
        return Bound(rank * (n + m - rank), f"matrices of size {m} × {n} and rank at most {rank}")
    if len(powers) == 1 and m == 1:
        s = widths[1]
        what = f"sums of {s} powers of degree {r} in {n} variables"
        return Bound(sums_of_powers(n, s, r), f"{what}{' (Alexander and Hirschowitz)' if r > 2 else ''}")
    space = comb(n + r - 1, r)
    return Bound(m * space, f"{m} times the {space} monomials of degree {r} in {n} variables")
