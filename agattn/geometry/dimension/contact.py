"""The contact spectrum of a network: how fast the singular values of its Jacobian fall as scores get small.

Take keys K_i = sU_i and queries Q_i = sW_i for general U_i, W_i and V_i. At fixed inputs all scores vanish at
s = 0, so the function and its Jacobian J(s) by the weights are power series in s. Over the power series J(s)
has a Smith form: a diagonal matrix of powers of s, whose exponents are the *contact orders*. There are as
many singular values of order s^β as there are Smith factors s^β. Where the largest order is 17, floating
point takes most singular values for zero at once.

With one head in each layer and no skip connections, changes of basis behind each layer make square V_i the
identity; they multiply J(s) from both sides by invertible matrices without s, and leave the orders as they
are. The V_h of several heads cannot all be made the identity at once.

Source: Theorem 4 of Konda, *Identifiability and Observability of Deep Normalized Attention* (preprint, 2026).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import inf, prod
from typing import Any

import flint
import numpy as np
from numpy.random import Generator

from agattn.algebra.arithmetic import Array, BallArithmetic, FloatArithmetic, ModularArithmetic, to_balls
from agattn.algebra.residues import Residues, random_prime, random_residues
from agattn.algebra.series import Series, SeriesArithmetic
from agattn.algebra.spectrum import logarithm, singular_values
from agattn.algebra.tracing import Traced, Tracing
from agattn.architectures import Architecture, DeepNetwork
from agattn.architectures.model_file import STUDIED, Studied
from agattn.architectures.normalizer import Normalizer
from agattn.calls import positive_integer
from agattn.errors import InputError
from agattn.evidence import Evidence, ProvedOrModular
from agattn.geometry.dimension.formulas import network_bound, symmetry_bound
from agattn.geometry.dimension.jacobian import jacobian
from agattn.limits import limits, log, refuse, takes
from agattn.sheet.data import Note, Sheet, Table
from agattn.sheet.result import Count, Key, Positive, Result

#: Larger networks are refused unless forced.
MOST_PARAMETERS, MOST_LAYERS = 400, 3
#: Decimal digits of singular values: fewer show no slopes, and more take too long.
FEWEST_DIGITS, MOST_DIGITS = 10, 1000
#: Orders above this are not looked for.
MOST_ORDER = 36
#: Rows beyond the largest possible rank.
_SURPLUS = 6


class ContactOrder(Result):
    """An order β, with the number of singular values that fall as s^β."""

    order: Key[Count, "The order β: the exponent of s in the Smith form of the Jacobian."]
    multiplicity: Key[Positive, "The number of Smith factors of this order."]
    slopes: Key[
        tuple[float, float] | None,
        "The least and the largest slope of these singular values in high precision; null without digits.",
    ]


class ContactSpectrum(Result, name="spectrum", eq=False):
    """The contact orders of a network where all scores vanish.

    ``kernel`` is the number of parameters less the number of all Smith factors that were found.
    """

    architecture: Key[Studied, STUDIED]
    parameters: Key[Positive, "The number of parameters, the columns of the Jacobian."]
    orders: Key[tuple[ContactOrder, ...], "The orders, from the least on."]
    kernel: Key[Count, "The number of directions without an order up to the largest that is seen."]
    complete: Key[bool, "Whether the orders are as many as the rank can be, so that the kernel has no order."]
    last: Key[Positive, "The largest order that is seen: power series are truncated after this order."]
    prime: Key[Positive, "The prime modulo which the Smith form was computed."]
    digits: Key[Positive | None, "Decimal digits of the singular values; null if there are none."]
    evidence: Key[ProvedOrModular, "`modular`: random weights and inputs, modulo a prime."]

    def summary(self) -> str:
        """The multiplicities of all orders, and the kernel."""
        orders = ", ".join(f"{each.multiplicity} of order {each.order}" for each in self.orders)
        return f"{self.architecture.name}: {orders}; kernel of dimension {self.kernel} ({self.evidence})"

    def sheet(self) -> Sheet:
        """A row for each order."""
        headings = ["order", "singular values"] + ["slopes"] * (self.digits is not None)
        rows = []
        for one in self.orders:
            slopes = (
                () if one.slopes is None else (" to ".join(f"{round(x, 4) + 0.0:.4f}" for x in one.slopes),)
            )
            rows.append((one.order, one.multiplicity, *slopes))
        title = f"{self.architecture.name}: contact orders of {self.parameters} parameters"
        larger = f" or have an order above {self.last}"
        if self.complete:
            larger = ", and no singular value has a larger order"
        directions = "direction is" if self.kernel == 1 else "directions are"
        kernel = f"{self.kernel} {directions} in the kernel{larger}."
        how = f"Smith form over power series modulo {self.prime}, at random weights ({self.evidence})."
        notes = [Note(f"{kernel} {how}")]
        network = self.architecture.as_network()
        if network is not None and network.t == 1 and not network.is_lightning:
            notes += [Note("With one token all weights of attention are 1: keys and queries play no part.")]
        return Sheet(title, (Table(title, tuple(headings), tuple(rows)), *notes))


@takes("seed", "force", "progress")
def contact_spectrum(architecture: Architecture, *, digits: int | None = None) -> ContactSpectrum:
    """The contact orders of the Jacobian along K_i = sU_i, Q_i = sW_i, with multiplicities.

    They say how fast the singular values of the Jacobian of a network fall as all scores get small. Keys and
    queries are multiplied by s. Then the Jacobian is a matrix of power series in s, and the orders are the
    exponents in the Smith form, which is computed modulo a prime.

    Args:
        architecture: a layer or a network of attention, lightning or softmax.
        digits: compute singular values as well, with so many decimal digits, and how fast they fall.
        seed: of the random weights, inputs and the prime.

    Raises:
        InputError: if the architecture is no network of attention, or for too few or too many digits.
        TooLargeError: if the network has more than 3 layers or 400 parameters.

    See Also:
        :func:`agattn.dimension`; ``agattn spectrum`` in a shell.

    >>> import agattn as ag
    >>> ag.spectrum(ag.DeepNetwork((2, 2, 2), (1, 1), t=2, normalization="softmax"))
    M(2,2,2; 1,1), softmax, t = 2: 4 of order 0, 3 of order 1, 3 of order 5; kernel of dimension 6 (modular)
    """
    network = architecture.as_network()
    if network is None:
        raise InputError(
            f"{architecture} is no network of attention; contact orders are known only for these"
        )
    if network.depth > MOST_LAYERS or network.parameters > MOST_PARAMETERS:
        refuse(
            f"{network} has {network.depth} layer{'s' * (network.depth != 1)} and {network.parameters}"
            f" parameters; contact orders are for at most {MOST_LAYERS} layers and {MOST_PARAMETERS}"
            " parameters"
        )
    if digits is not None and not FEWEST_DIGITS <= positive_integer("digits", digits) <= MOST_DIGITS:
        raise InputError(f"digits is {digits}; it must be from {FEWEST_DIGITS} to {MOST_DIGITS}")
    seed = limits().seed
    generator = np.random.default_rng(seed)
    p = random_prime(generator)
    bound = min(symmetry_bound(network).value, network_bound(network).value)
    # Beyond the largest order of one head: 2κ·3^(l−1) − 1 with softmax, 3^l − 1 of a lightning network.
    last = 2 * network.first_degree * 3 ** (network.depth - 1)
    last = 3**network.depth if network.is_lightning else last
    while True:
        log.info(f"the Jacobian as a power series to order {last}")
        series = _jacobian_series(network, last, bound + _SURPLUS, p, generator)
        log.info("its Smith form")
        found = sorted(Counter(smith_orders(series, p)).items())
        if sum(dict(found).values()) == bound or not _has_terms(network, 2 * last):
            break
        last *= 2  # several heads may have larger orders
    slopes = None
    if digits is not None:
        log.info("singular values")
        slopes = _slopes(network, int(digits), bound + _SURPLUS, max(dict(found)), generator)
    orders, start = [], 0
    for order, multiplicity in found:
        band = None if slopes is None else slopes[start : start + multiplicity]
        orders.append(ContactOrder(order, multiplicity, None if band is None else (min(band), max(band))))
        start += multiplicity
    numbers = network.parameters - start, start == bound, last, p, digits
    return ContactSpectrum(architecture, network.parameters, tuple(orders), *numbers, Evidence.MODULAR)


def _has_terms(network: DeepNetwork, last: int) -> bool:
    """Whether power series to this order are not too long, and the normalizer has coefficients for them."""
    given = network.normalization
    return last <= MOST_ORDER and (not isinstance(given, Normalizer) or last // 2 < len(given.series))


def _is_small(name: str) -> bool:
    """Whether an array is multiplied by s."""
    return name.startswith(("K_", "Q_"))


def _jacobian_series(network: DeepNetwork, last: int, rows: int, p: int, generator: Generator) -> Residues:
    """J(s) modulo s^(last + 1), as (last + 1, rows, parameters): one random cotangent at each of many inputs.

    With K = sU the derivative by K is that by U, divided by s.
    """
    tracing = Tracing(ModularArithmetic(p))
    series = SeriesArithmetic(tracing, last + 1)
    leaves, theta = dict[str, Traced](), dict[str, Series | Traced]()
    for name, shape in network.shapes.items():
        entries = random_residues(generator, shape, p)
        leaves[name] = tracing.record(np.broadcast_to(entries, (rows, *shape)))
        theta[name] = series.variable(leaves[name]) if _is_small(name) else leaves[name]
    X = random_residues(generator, (rows, *network.input_shape), p)
    cotangents = random_residues(generator, (1, rows, *network.output_shape), p)
    out = series.series(network.evaluate(series, theta, X))
    J = np.zeros((last + 1, rows, network.parameters))
    for n, coefficient in enumerate(out.coefficients):
        if isinstance(coefficient, Traced):
            tracing.pull_back(coefficient, cotangents)
            for order, columns, gradient in _gradients(leaves, n):
                if 0 <= order <= last:
                    J[order, :, columns] = gradient.reshape(rows, -1)
    return J


def _gradients(leaves: dict[str, Traced], n: int) -> Iterator[tuple[int, slice, Array]]:
    """The gradients of the coefficient of tⁿ by each array: their order, their columns; they are cleared."""
    start = 0
    for name, leaf in leaves.items():
        columns = slice(start, start := start + prod(leaf.shape[1:]))
        if leaf.gradient is not None:
            yield n - _is_small(name), columns, leaf.gradient[0]
        leaf.gradient = None


def smith_orders(series: Residues, p: int) -> Iterator[int]:
    """The orders of the Smith factors of a matrix over 𝔽_p[[s]], in (N + 1, m, n) numbers.

    An entry of least order v is the pivot. Rows are cleared by multiples of the pivot row. All entries
    have at least the order v, so no precision is lost.

    >>> matrix = np.zeros((3, 2, 2))
    >>> matrix[0] = [[1, 2], [1, 2]]
    >>> matrix[2, 1, 1] = 5  # 1, 2 and 1, 2 + 5t²
    >>> list(smith_orders(matrix, 7))
    [0, 2]
    """
    A, N = series.astype(np.int64) % p, len(series) - 1
    while A.shape[1] and A.shape[2]:
        v = next((v for v in range(N + 1) if A[v].any()), None)
        if v is None:
            return
        yield v
        i, j = np.argwhere(A[v])[0]
        # The pivot is s^v·u with a unit u; its row is divided by u.
        inverse, row = _inverse(A[v:, i, j], p), np.zeros_like(A[v:, i, :])
        for n in range(N + 1 - v):
            for k in range(n + 1):
                row[n] = (row[n] + A[v + k, i] * inverse[n - k]) % p
        column = A[:, :, j].copy()
        for a in range(v, N + 1):  # entries of the column times the row
            for b in range(N + 1 - a):
                A[a + b] = (A[a + b] - np.outer(column[a], row[b]) % p) % p
        A = np.delete(np.delete(A, i, axis=1), j, axis=2)


def _inverse(u: Array, p: int) -> list[int]:
    """The coefficients of 1/u for a power series whose constant term is not 0."""
    first = pow(int(u[0]), -1, p)
    coefficients = [first]
    for n in range(1, len(u)):
        coefficients.append(-first * sum(int(u[k]) * coefficients[n - k] for k in range(1, n + 1)) % p)
    return coefficients


class ScaledWeights:
    """Random weights and inputs of a network, whose keys and queries are multiplied by s = 2^(−n).

    Args:
        network: with one head in each layer or several.
        rows: of the Jacobian, one random cotangent at each of as many random inputs.
        generator: of all of them. Weights are floats, which are exact rational numbers.
    """

    def __init__(self, network: DeepNetwork, rows: int, generator: Generator) -> None:
        self.network = network
        self._drawn = {name: generator.standard_normal(shape) for name, shape in network.shapes.items()}
        self._X = generator.standard_normal((rows, *network.input_shape))
        self._cotangents = generator.standard_normal((rows, 1, *network.output_shape))

    def singular_values(self, n: int, digits: int) -> list[Any]:
        """The singular values of the Jacobian in so many decimal digits, the largest first."""
        bits = int(digits * 3.33) + 16
        with flint.ctx.workprec(bits):
            s = flint.arb(2) ** -n
            drawn = ((name, to_balls(array)) for name, array in self._drawn.items())
            theta = {name: array * s if _is_small(name) else array for name, array in drawn}
            X, cotangents = to_balls(self._X), to_balls(self._cotangents)
            J = jacobian(self.network, theta, X, BallArithmetic(), cotangents)
        return singular_values(J, bits)

    def in_floats(self, n: int) -> tuple[list[float], float]:
        """The singular values in float64, and numpy's usual cutoff: those below count as zero in a rank."""
        theta = {name: array * 2.0**-n if _is_small(name) else array for name, array in self._drawn.items()}
        J = jacobian(self.network, theta, self._X, FloatArithmetic(), self._cotangents)
        values = np.linalg.svd(J, compute_uv=False)
        return values.tolist(), float(values[0] * max(J.shape) * np.finfo(float).eps)


def _slopes(network: DeepNetwork, digits: int, rows: int, largest: int, generator: Generator) -> list[float]:
    """log₂ σ(2s)/σ(s) of the singular values at a small s, the largest first, in so many digits."""
    bits = int(digits * 3.33) + 16
    # Singular values of the largest order β are about s^β: s is chosen so that half of the digits are left.
    halvings = max(4, bits // (2 * (largest + 1)))
    scaled = ScaledWeights(network, rows, generator)
    pairs = zip(*(scaled.singular_values(n, digits) for n in (halvings - 1, halvings)), strict=True)
    return [logarithm(x / y) if y > 0 else inf for x, y in pairs]
