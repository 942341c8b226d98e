r"""How many critical points a loss has, stratum by stratum, and how that is known.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> layer = SingleLayer(2, 1)
>>> found = {Stratum(1, 2, 2): CriticalSet(1, 4), Stratum(1, 1, 2): CriticalSet(0, 10)}
>>> print(CriticalPoints(loss(layer, samples=2), found, (32003,), "singular 4.4.1"))
M(2,1,2), generic, 2 samples: critical points of dimension 1 and degree 4, singular ones (1,1,2): 10 (modular)
>>> print(counts_by_theorem(layer, "generic"))
M(2,1,2), generic, general data: 14 critical points, singular ones (1,1,1): 14; (1,1,2): 10 (proved)

The number of critical points of the loss of general data: the ED degree of M̄ in the metric I ⊗ W.

The map (A, V) ↦ y is defined on a smooth variety X, the pairs of a matrix A with columns in a space U of
dimension α, up to scale, and V up to scale: :math:`X = P(S ⊗ ℂ^d) × P^{dd'-1}` over Gr(α, d), with the
tautological bundle S. If the loss of the data has no singular points on X, as it is for d' = 1, the number is

.. math:: (-1)^{\dim X} \int_X \frac{c(T_X)}{(1 + h)(1 + 2h)}, \qquad h = c_1(O(1, 1)).

For d' > 1 the quadric y(I ⊗ W)yᵀ = 0 is singular on X at V = h kᵀ with h isotropic and k in the kernel of
the quadratic form M_A(v) = ‖v·A‖²_W; the loci :math:`\{k ∈ K ⊂ \ker M_A\}`, dim K = i, are smooth, and
integrals of the same kind over them are subtracted. The page on critical points has the proof. Integrals are
sums over the fixed points of a torus (Bott's residue formula), exact in rational numbers.

Source: Aluffi and Harris, *The Euclidean distance degree of smooth complex projective varieties*, 2018;
Maxim, Rodriguez and Wang, *Defect of Euclidean distance degree*, 2020, for the correction.

>>> from agattn.architectures import SingleLayer
>>> [generic_ed_degree(SingleLayer(d, 1)) for d in (1, 2, 3, 4)]
[1, 14, 543, 35964]
>>> [generic_ed_degree(SingleLayer(2, d_out, a)) for d_out, a in ((1, 1), (2, 1), (2, 2), (3, 2))]
[10, 68, 68, 92]

On (1,1,1) and (1,1,2) a function is h ⊗ y, and its quadric the product of hᵀh and yᵀWy. So there are three
divisors with normal crossings instead of two, and the same integral with 1/((1 + 2η)(1 + 2(ξ − η))(1 + ξ)),
η = c_1(O(1)) of the space of h and ξ = c_1(O(1)) of all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations, product
from math import comb, prod
from typing import Literal, NamedTuple

import flint

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import singular_strata
from agattn.geometry.critical_points.elimination import ELIMINATION, number_by_elimination
from agattn.geometry.critical_points.loss import AboutLoss, GeneralLoss, Loss, enough_samples, loss
from agattn.geometry.critical_points.real_points import RealCriticalPoint, RealPart, expected_sum, real_table
from agattn.geometry.strata.strata import ByStratum, Stratum, open_stratum, singular_by_ranks, strata
from agattn.limits import refuse
from agattn.sheet.data import Cell, Note, Sheet, Table
from agattn.sheet.result import Count, Key, Named, Result, Written, field, key

#: Beyond it the number is not known here.
MAX_OUT = 3
#: Ids of the theorems of the page on critical points: labels there, whatever the page is called.
GENERAL_DATA = "critical-points.general-data"
SINGULAR_STRATA = "critical-points.singular-strata"
BOMBIERI_WEYL = "critical-points.bombieri-weyl"


class FixedPoint(NamedTuple):
    """Weights of a torus at a fixed point: tangent, of normal bundles, of ξ = c_1(O(1)), and of η."""

    tangent: Sequence[int]
    normal: Sequence[int]
    h: int
    eta: int = 0


def size_of_sums(layer: SingleLayer) -> int:
    """About how many multiplications the numbers for general data take: fixed points times dimension squared.

    >>> size_of_sums(SingleLayer(4, 1)) < 10**6 < size_of_sums(SingleLayer(12, 1))
    True
    """
    d, d_out, alpha = layer.d, layer.d_out, layer.alpha
    attention = comb(d, alpha) * alpha * d
    kernels = d * 2 ** (d - 1) * d_out if d_out > 1 else 0
    whole = attention * (d * d_out + kernels) * layer.expected_dimension**2
    return whole + d_out * d**3 * (3 * d + d_out) ** 2


#: Sums are done up to so many multiplications: a minute.
MAX_SUMS = 2 * 10**8


@lru_cache(maxsize=64)
def generic_ed_degree(layer: SingleLayer) -> int:
    """The number of critical points of the loss of general data on the smooth part of M̄, for d' ≤ 3.

    Raises:
        InputError: if d' > 3 and d > 1, or t = 1.

    >>> generic_ed_degree(SingleLayer(3, 1, 1)), generic_ed_degree(SingleLayer(3, 1, 2))
    (1083, 7965)
    """
    d, d_out = layer.d, layer.d_out
    if not layer.has_orbits:
        raise InputError("t is 1; the ED degree is known for t ≥ 2")
    if d == 1:
        return 1
    if d_out > MAX_OUT:
        raise InputError(f"d' is {d_out}; the ED degree in the metric I ⊗ W is known for d' ≤ {MAX_OUT}")
    whole: int = _integral(partial(_pairs, layer))
    if d_out == 1:
        # For a = 1, too, each function has two pairs (k qᵀ, vᵀ), which meet at v ∥ k.
        return whole if layer.a > 1 else (whole - _integral(partial(_vectors, d, 1, [2]))) // 2
    if d_out == 2:
        return whole - 2 * _integral(partial(_kernels, layer, 1))
    signs: list[int] = [(-2) ** (i - 1) * (-1) ** (i * (i - 1) // 2) for i in range(1, d + 1)]
    parts = [_integral(partial(_kernels, layer, i)) for i in range(1, d + 1)]
    return whole - sum(c * part for c, part in zip(signs, parts, strict=True))


def stratum_ed_degree(layer: SingleLayer, stratum: Stratum) -> int | None:
    """The number of critical points of the loss of general data on a stratum of singular points.

    ``None`` where no theorem says: where r_A > 1, or r_V > 1, and r_V or r is not as large as possible.

    >>> layer = SingleLayer(3, 2)
    >>> [stratum_ed_degree(layer, Stratum(1, 1, r)) for r in (1, 2)]
    [426, 2154]
    >>> stratum_ed_degree(SingleLayer(3, 2, 2), Stratum(2, 1, 2)) is None
    True
    """
    d, d_out, r_v, r_a, r = layer.d, layer.d_out, stratum.r_v, stratum.r_a, stratum.r
    if (r_v, r_a) == (1, 1):
        squares = _integral(partial(_vectors, d, d_out, [2]))
        return squares if r == 1 else (_integral(partial(_vectors, d, d_out, [1, 1])) - squares) // 2
    if d_out > MAX_OUT or (r_v, r) != (min(d, d_out), min(d, r_v + r_a)):
        return None
    return generic_ed_degree(SingleLayer(d, d_out, r_a, layer.t))


def bombieri_weyl_ed_degree(layer: SingleLayer) -> int | None:
    """The number of critical points of the distance to a general target in the Bombieri–Weyl norm.

    On the smooth part; ``None`` where no theorem says.

    >>> [bombieri_weyl_ed_degree(SingleLayer(d, 1)) for d in (1, 2, 3, 4)]
    [1, 4, 13, 40]
    >>> bombieri_weyl_ed_degree(SingleLayer(2, 1, 1)), bombieri_weyl_ed_degree(SingleLayer(3, 1, 2))
    (2, None)
    """
    if not layer.has_orbits or layer.d_out > 1:
        return None
    if layer.a >= layer.d:
        return int((3**layer.d - 1) // 2)
    return 2 if layer.d == 2 else None


def numbers_by_theorem(
    layer: SingleLayer, metric: str, smooth: bool = False
) -> dict[Stratum, tuple[int, str]]:
    """Numbers of critical points for general data, or a general target, that theorems give, with their ids.

    On the smooth part, by the open stratum, which stands first, and on strata of singular points; empty where
    no theorem gives the first.

    Args:
        layer: the layer.
        metric: ``"generic"`` or ``"bombieri-weyl"``; nothing is known for others.
        smooth: the smooth part alone.

    >>> numbers_by_theorem(SingleLayer(4, 1), "bombieri-weyl")
    {Stratum(r_v=1, r_a=4, r=4): (40, 'critical-points.bombieri-weyl')}
    >>> for stratum, (number, theorem) in numbers_by_theorem(SingleLayer(2, 2), "generic").items():
    ...     print(stratum, number, theorem)
    (2,2,2) 68 critical-points.general-data
    (1,1,1) 24 critical-points.singular-strata
    (1,1,2) 20 critical-points.singular-strata
    """
    if not layer.has_orbits:
        return {}
    open_ = open_stratum(layer)
    if metric == "bombieri-weyl":
        number = bombieri_weyl_ed_degree(layer)
        return {} if number is None else {open_: (number, BOMBIERI_WEYL)}
    if metric != "generic" or (layer.d > 1 and layer.d_out > MAX_OUT):
        return {}
    numbers = {open_: (generic_ed_degree(layer), GENERAL_DATA)}
    for stratum in () if smooth else strata(layer)[1:]:
        if singular_by_ranks(layer, stratum) and (number := stratum_ed_degree(layer, stratum)) is not None:
            numbers[stratum] = number, SINGULAR_STRATA
    return numbers


def _integral(points: Callable[[], Iterator[FixedPoint]]) -> int:
    """(−1)ⁿ ∫ c(T) / ((1 + ξ)(1 + 2(ξ − η))(1 + 2η)) over the zeros, of dimension n, of a general section."""
    total = flint.fmpq(0)
    dimension = 0
    for point in points():
        dimension = len(point.tangent) - len(point.normal)
        if dimension < 0:
            return 0
        series = [1] + [0] * dimension  # in a variable for the degree
        for weight in point.tangent:
            for n in range(dimension, 0, -1):
                series[n] += weight * series[n - 1]
        for weight in (*point.normal, point.h, 2 * (point.h - point.eta), 2 * point.eta):
            for n in range(1, dimension + 1):
                series[n] -= weight * series[n - 1]
        total += flint.fmpq(series[dimension] * prod(point.normal), prod(point.tangent))
    assert total.q == 1
    value = int(total.p)
    return -value if dimension % 2 else value


def _weights(*sizes: int, seed: int = 0) -> list[list[int]]:
    """Characters of a torus on vector spaces, without relations that matter: sums do not depend on them."""
    draw = random.Random(seed)
    numbers = iter(draw.sample(range(10**6, 10**9), sum(sizes)))
    return [[next(numbers) for _ in range(size)] for size in sizes]


def _attention(
    layer: SingleLayer, rows: Sequence[int], columns: Sequence[int]
) -> Iterator[tuple[list[int], int]]:
    """Fixed points (U, A) with A a unit matrix with a column in U: tangent weights, and that of A."""
    for U in combinations(range(layer.d), layer.alpha):
        grassmannian = [rows[j] - rows[i] for i in U for j in range(layer.d) if j not in U]
        lines = [rows[i] + b for i in U for b in columns]
        for n, line in enumerate(lines):
            yield grassmannian + _others(lines, n), line


def _others(lines: Sequence[int], n: int) -> list[int]:
    """Tangent weights of a projective space at its fixed point n."""
    return [line - lines[n] for m, line in enumerate(lines) if m != n]


def _pairs(layer: SingleLayer) -> Iterator[FixedPoint]:
    """X: the pairs (U, A) and V, with O(1, 1)."""
    rows, columns, values = _weights(layer.d, layer.d, layer.d * layer.d_out)
    for (tangent, line), n in product(list(_attention(layer, rows, columns)), range(len(values))):
        yield FixedPoint(tangent + _others(values, n), (), -line - values[n])


def _vectors(d: int, d_out: int, powers: Sequence[int]) -> Iterator[FixedPoint]:
    """Vectors h, q, k, ... up to scale, by the powers of k, ... in a product: h ⊗ q ⊗ k², or h ⊗ q ⊗ kv."""
    spaces = _weights(d_out, d, *(d for _ in powers))
    for numbers in product(*(range(len(space)) for space in spaces)):
        at = list(zip(spaces, numbers, strict=True))
        tangent = [weight for space, n in at for weight in _others(space, n)]
        h, q, *more = (space[n] for space, n in at)
        xi = h + q + sum(power * weight for power, weight in zip(powers, more, strict=True))
        yield FixedPoint(tangent, (), -xi, -h)


def _kernels(layer: SingleLayer, size: int) -> Iterator[FixedPoint]:
    """(A, k ∈ K, h) with K in the kernel of M_A of this dimension, and h isotropic: for d' = 2 one of two."""
    rows, columns, kernel, outputs = _weights(layer.d, layer.d, layer.d, 3)
    indices = range(layer.d)
    isotropic: list[tuple[list[int], list[int], int]] = [([], [], 0)]
    if layer.d_out > 2:
        isotropic = [(_others(outputs, n), [-2 * x], x) for n, x in enumerate(outputs)]
    for K in combinations(indices, size):
        flag = [kernel[j] - kernel[i] for i in K for j in indices if j not in K]
        pairs = {tuple(sorted((i, j))) for i in K for j in indices}
        attention = list(_attention(layer, rows, columns))
        for n, (tangent, line), (other, conic, h) in product(range(size), attention, isotropic):
            # The entries of M_A in rows of K, each of degree 2 in A.
            entries = [-kernel[i] - kernel[j] - 2 * line for i, j in pairs]
            lines = [kernel[i] for i in K]
            yield FixedPoint(
                [*tangent, *flag, *_others(lines, n), *other], [*entries, *conic], -line - lines[n] - h
            )


THEOREM = "theorem"


class CriticalSet(Result):
    """The critical points of a loss on a stratum.

    The degree of infinitely many says nothing of isolated ones.
    """

    dimension: Key[int, "The dimension of the set of critical points; -1 if there are none."]
    degree: Key[Count, "The degree of this set: that of its part of largest dimension."]

    @key
    def count(self) -> Count | None:
        """The number of critical points on the stratum, with multiplicity; null where infinitely many."""
        return None if self.dimension > 0 else self.degree

    def summary(self) -> str:
        """Their number, or the dimension and the degree."""
        if self.count is not None:
            return str(self.count)
        return f"of dimension {self.dimension} and degree {self.degree}"


class CriticalPart(ByStratum, CriticalSet):
    """The critical points of a loss on a stratum of singular points."""

    stratum: Stratum
    theorem: Key[str | None, "The id of the theorem that gives the number; null where none does."]
    evidence: Key[Evidence, "How the result is known."]

    def summary(self) -> str:
        """The stratum and the number in a line."""
        return f"{self.stratum}: {super().summary()} ({self.evidence})"


class CriticalPoints(AboutLoss, name="critical-points"):
    """The complex critical points of a loss on the smooth part of M̄ and on each singular stratum but 0."""

    found: Mapping[Stratum, CriticalSet]  #: what was found for each stratum, the open one first
    fields: Key[
        tuple[int, ...],  #: characteristics; 0 for ℚ
        "Over which fields engines computed; empty for a theorem.",
        Written(list[str], lambda fields: [f"ZZ/{p}" if p else "QQ" for p in fields]),
    ]
    engine: Key[str, "The name and version of the engine; `native` for a theorem."]
    method: Key[
        str,
        "By charts of weights, by equations with multipliers, or natively: for this loss by elimination to "
        "one parameter, or for general data or a general target by a theorem.",
        Written(Literal["weights", "equations", "elimination", "theorem"]),
    ] = "weights"
    real: Key[
        tuple[RealPart, ...],
        "For each stratum the number of real critical points, and how it is known.",
        Named("real_parts"),
    ] = ()
    exact: bool = True  #: whether the engine proves what it says over ℚ
    #: For each stratum with a number that is proved natively what proves it: ``"elimination"``, for this
    #: loss, or the id of a theorem, for general data or a general target. A theorem proves no count of an
    #: engine, which is about one loss.
    proofs: Mapping[Stratum, str] = field(default_factory=dict)

    @key
    def rank(self) -> Count:
        """The rank of W, where the loss is a quadratic form I ⊗ W and lower terms."""
        return self.loss.rank

    @property
    def smooth(self) -> CriticalSet:
        """Those on the smooth part."""
        return next(iter(self.found.values()))

    @key
    def regular(self) -> Count | None:
        """Critical points on the smooth part; null where there are infinitely many."""
        return self.smooth.count

    @key
    def dimension(self) -> int:
        """The dimension of the set of critical points on the smooth part; -1 if there are none."""
        return self.smooth.dimension

    @key
    def degree(self) -> Count:
        """The degree of this set: that of its part of largest dimension."""
        return self.smooth.degree

    @key(name="strata")
    def parts(self) -> list[CriticalPart]:
        """The critical points of the loss on each stratum of singular points but 0."""
        return [
            CriticalPart(part.dimension, part.degree, s, self.theorem_on(s), self.evidence_on(s))
            for s, part in self.strata.items()
        ]

    @key(name="real")
    def real_points(self) -> list[RealCriticalPoint]:
        """The real critical points, where they were asked for, by strata and by their loss."""
        return [point for part in self.real for point in part.points]

    @property
    def strata(self) -> dict[Stratum, CriticalSet]:
        """Those of the loss on each singular stratum."""
        return dict(list(self.found.items())[1:])

    @key
    def theorem(self) -> str | None:
        """The id of the theorem that gives `regular` for general data; null if none does."""
        return self.theorem_on(next(iter(self.found)))

    def theorem_on(self, stratum: Stratum) -> str | None:
        """The id of the theorem that gives the number on a stratum; ``None`` where none does."""
        proof = self.proofs.get(stratum)
        return None if proof == ELIMINATION else proof

    @property
    def left_out(self) -> tuple[Stratum, ...]:
        """Strata of singular points on which no theorem gives the number, though others have theirs."""
        if self.method != THEOREM or len(self.found) < 2:
            return ()
        return tuple(stratum for stratum in singular_strata(self.layer) if stratum not in self.found)

    @key
    def evidence(self) -> Evidence:
        """How the result is known."""
        return self.evidence_on(next(iter(self.found)))

    def evidence_on(self, stratum: Stratum) -> Evidence:
        """How the number on a stratum is known.

        ``proved`` natively, or over ℚ by the equation of a hypersurface; else ``modular``, also where an
        engine counts as many for one loss as a theorem gives for general ones. A chart may miss points, and
        of several equations those chosen may have dependent gradients at some, which a general loss does not
        have as critical points.
        """
        proof = self.proofs.get(stratum)
        natively = proof == ELIMINATION or (proof is not None and self.method == THEOREM)
        return Evidence.PROVED if natively else self._counted

    @property
    def _counted(self) -> Evidence:
        """How the numbers are known by the engine's word, or by elimination."""
        if self.method == ELIMINATION:
            return Evidence.PROVED
        hypersurface = self.layer.ambient_dimension - self.layer.expected_dimension == 1
        proved = self.exact and 0 in self.fields and self.method == "equations" and hypersurface
        return Evidence.PROVED if proved else Evidence.MODULAR

    @property
    def how_known(self) -> tuple[str, ...]:
        """How the numbers are known, in sentences."""
        theorems = dict.fromkeys(filter(None, map(self.theorem_on, self.found)))
        ids = f"theorem{'s' * (len(theorems) > 1)} {' and '.join(theorems)}"
        general = "general data with enough samples" if self.loss.metric == "generic" else "a general target"
        if self.method == THEOREM:
            lines = [f"Complex, for {general}: by {ids} ({self.evidence})."]
            if self.left_out:
                strata = ", ".join(map(str, self.left_out))
                lines.append(f"No theorem gives the numbers on {strata}; an engine counts there.")
            elif len(self.found) == 1 and singular_strata(self.layer):
                lines.append("On the strata of singular points only engines count.")
            return tuple(lines)
        over = " and ".join(f"modulo {p}" if p else "over ℚ" for p in self.fields)
        lines = [f"Complex, with multiplicity; {over}, by {self.engine} ({self._counted})."]
        if theorems and self.method != ELIMINATION:
            lines.append(f"As many as for {general}, by {ids} (proved).")
        elif self.method != ELIMINATION and ELIMINATION in self.proofs.values():
            lines.append("As many as elimination leaves for this loss (proved).")
        return tuple(lines)

    @property
    def data(self) -> str:
        """The loss in words."""
        words, number = [self.loss.metric], self.loss.samples
        if number is not None:
            words.append(f"{number} sample{'s' * (number != 1)}")
        if self.method == THEOREM:
            words.append("general data" if self.loss.metric == "generic" else "general target")
        return ", ".join(words)

    def summary(self) -> str:
        """The numbers and how they are known, in a line."""
        singular = "; ".join(f"{stratum}: {part}" for stratum, part in self.strata.items())
        singular = f", singular ones {singular}" if singular else ""
        number = self.regular
        numbers = "critical points " + str(self.smooth) if number is None else f"{number} critical point"
        numbers += "s" * (number not in (None, 1))
        return f"{self.layer.name}, {self.data}: {numbers}{singular} ({self.evidence})"

    def sheet(self) -> Sheet:
        """The numbers by strata, how they are known, and the real ones."""
        rows: list[tuple[Cell, ...]] = []
        for n, (stratum, part) in enumerate(self.found.items()):
            number = part.count if part.count is not None else f"∞, of degree {part.degree}"
            rows.append((str(stratum) if n else "smooth part", part.dimension, number))
        caption = f"Critical points of the loss on {self.layer.name}: {self.data}"
        lines, shown = list(self.how_known), list[Table | Note]()
        if self.loss.rank < self.loss.size:
            lines.insert(0, f"The loss is no distance: its W has rank {self.loss.rank} of {self.loss.size}.")
        if self.real_points:
            shown += [Note("Real ones, each proved:"), real_table("Real ones", self.real_points)]
        if self.real:
            shown.append(Note("\n".join(part.summary() for part in self.real)))
        return Sheet(
            f"{self.layer}; critical points of the loss: {self.data}",
            (Table(caption, ("stratum", "dimension", "number"), tuple(rows)), *map(Note, lines), *shown),
        )


def proved_of_general(loss: Loss, stratum: Stratum | None, part: CriticalSet) -> str:
    """What is proved of general losses and does not fit critical points; an empty string if all fits.

    On a smooth stratum, or on the smooth part, a general definite loss has finitely many critical points,
    which are nondegenerate. Complex ones come in pairs, so that their number is even or odd as Σ (−1)^index
    of the real ones is. Only losses that a seed drew are compared, as others may be special.

    Args:
        loss: the loss.
        stratum: where the points are; ``None`` for the smooth part.
        part: the points.

    >>> from agattn.geometry.critical_points.loss import loss
    >>> distance = loss(SingleLayer(2, 2), "bombieri-weyl")
    >>> [proved_of_general(distance, None, CriticalSet(*found)) for found in ((0, 32), (0, 31), (1, 32))]
    ['', 'an even number is', 'finitely many are']
    """
    if not loss.drawn or loss.rank < loss.size:
        return ""
    if part.dimension > 0:
        return "finitely many are"
    total = expected_sum(loss.layer, stratum)
    if total is None or (part.degree - total) % 2 == 0:
        return ""
    return "an odd number is" if total % 2 else "an even number is"


def counts_by_theorem(
    layer: SingleLayer, metric: str, samples: int | None = None, smooth: bool = False
) -> CriticalPoints | None:
    """The numbers for general data, or a general target, by theorems; ``None`` where none gives the first.

    Args:
        layer: the layer.
        metric: of the loss.
        samples: the number of random samples, which may be too few for the theorem.
        smooth: the smooth part alone.

    Raises:
        TooLargeError: if the sums take long.
    """
    if not layer.has_orbits:
        return None
    if samples is not None and (metric != "generic" or not enough_samples(loss(layer, samples=samples))):
        return None
    summed = metric == "generic" and layer.d_out <= MAX_OUT
    if summed and size_of_sums(layer) > MAX_SUMS:
        refuse(f"{layer.name}: the sums of the theorem on general data have more than {MAX_SUMS:.0e} terms")
    numbers = numbers_by_theorem(layer, metric, smooth)
    if not numbers:
        return None
    return CriticalPoints(
        GeneralLoss(layer, metric, samples),
        {stratum: CriticalSet(0, number) for stratum, (number, _) in numbers.items()},
        (),
        "native",
        THEOREM,
        proofs={stratum: theorem for stratum, (_, theorem) in numbers.items()},
    )


def counts_by_elimination(loss: Loss, smooth: bool = False) -> CriticalPoints | None:
    """The numbers for a loss where all but one parameter can be eliminated, for d = 2 and d' = 1.

    ``None`` elsewhere, for a loss that is no distance or whose b is 0, and where there are infinitely many.

    >>> from agattn.geometry.critical_points.loss import loss
    >>> print(found := counts_by_elimination(loss(SingleLayer(2, 1), "gaussian")))
    M(2,1,2), gaussian: 6 critical points, singular ones (1,1,1): 6; (1,1,2): 6 (proved)
    >>> found.to_dict()["fields"], found.method
    (['QQ'], 'elimination')
    """
    layer, parts = loss.layer, {}
    one_parameter = (layer.d, layer.d_out) == (2, 1) and layer.has_orbits
    for stratum in (None, *(singular_strata(layer) if one_parameter and not smooth else ())):
        if (number := number_by_elimination(loss, stratum)) is None:
            return None
        parts[stratum or open_stratum(layer)] = CriticalSet(0 if number else -1, number)
    proofs = dict.fromkeys(parts, ELIMINATION)
    return CriticalPoints(loss, parts, (0,), ELIMINATION, ELIMINATION, proofs=proofs)
