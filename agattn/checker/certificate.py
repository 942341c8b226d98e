"""The checker: re-verifies a certificate with Python's integers and nothing else.

It is meant to be read in one sitting, and trusts no word and no number of the file: every consequence is
computed here, with the algebra of agattn/checker/integers.py. In short (docs/certificates.md says more):

- A pair (A, V), rk A ≤ a, gives the point y with y_{c,b}(u) = V_c(u)·A_b(u), products of the row V_c and the
  column A_b read as linear forms. M is the set of these points, M̄ its complex closure; y has the coordinates
  (c, b, i, k), i ≤ k, the coefficients of u_i u_k. Products of nonzero forms are not 0: y = 0 means that
  A = 0 or V = 0.
- A group acts on pairs with finitely many orbits, told apart by rk V, rk A and rk [V; Aᵀ], and it acts
  linearly on the points y. What holds at one pair of each orbit holds everywhere.
- Nothing here depends on t ≥ 2, or on a ≥ d: certificates name no t and write min(a, d) for a.

A number in a certificate is recomputed and compared, or enters a product that is compared with numbers stated
elsewhere: changing any single one makes the certificate invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import Any

from agattn.checker.integers import (
    Flaw,
    Sparse,
    UnreadableError,
    differential,
    expand,
    fields,
    gradient,
    integer,
    lines,
    phi,
    plus,
    rank,
    require,
    sparse,
)

FORMAT = "agattn certificate 1"

ALWAYS = (0, 0)
"""The power of ε in what does not depend on ε; it is not written."""

ANY = (0, 10**6)

MOST = 10**4
"""Coordinates of the largest layer that is checked; time and room grow with their number."""

MALFORMED = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError)
"""What Python raises where a file has something else than what is looked for."""


# One layer, one orbit ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """The numbers d, d', a ≤ d."""

    d: int
    o: int
    a: int

    def __post_init__(self) -> None:
        require(1 <= self.a <= self.d and self.o >= 1, "d, d', a are not possible")
        require(self.ambient <= MOST, f"it is about more than {MOST} coordinates, which is not checked here")

    @property
    def ambient(self) -> int:
        """N, the number of coordinates."""
        return self.o * self.d * self.d * (self.d + 1) // 2

    def source(self, r_a: int) -> int:
        """The tangent dimension of the variety of pairs, modulo scaling, where rk A = r_a.

        {rk A ≤ a} is smooth of dimension a(2d − a) where rk A = a; where rk A < a < d the minors of size
        a + 1 vanish to second order.
        """
        return self.o * self.d + (self.a * (2 * self.d - self.a) if r_a == self.a else self.d**2) - 1

    def orbits(self) -> list[tuple[int, int, int]]:
        """All triples rk V, rk A, rk [V; Aᵀ] of pairs with A ≠ 0 and V ≠ 0."""
        d, ranks = self.d, product(range(1, min(self.d, self.o) + 1), range(1, self.a + 1))
        return [(v, r, n) for v, r in ranks for n in range(max(v, r), min(d, v + r) + 1)]

    def places(self, rows: int) -> list[tuple[int, int]]:
        """The indices of a matrix with d columns."""
        return list(product(range(1, rows + 1), range(1, self.d + 1)))

    def matrix(self, value: Any, rows: int, powers: tuple[int, int] = ALWAYS) -> Sparse:
        """A matrix [[row, column, value], ...] with d columns, or with a power of ε before each value."""
        return sparse(value, (1, rows), (1, self.d), powers)

    def point(self, value: Any, powers: tuple[int, int] = ALWAYS) -> Sparse:
        """Coordinates [[c, b, i, k, value], ...], or with a power of ε in front of each."""
        y = sparse(value, powers, (1, self.o), (1, self.d), (1, self.d), (1, self.d))
        require(all(i <= k for *_, i, k in y), "a coordinate has i > k")
        return y


class Orbit:
    """All that is proved about one orbit, at the point p of the pair (A, V)."""

    def __init__(self, layer: Layer, record: Any) -> None:
        self.layer = layer
        self.found = fields(record, "ranks A V y", "second critical approach arcs tangent equations")
        self.A, self.V = layer.matrix(self.found["A"], layer.d), layer.matrix(self.found["V"], layer.o)
        rows, columns = lines(self.V, 0), lines(self.A, 1)
        self.ranks = rank(rows), rank(columns), rank(rows + columns)
        require(self.ranks == tuple(map(integer, self.found["ranks"])), f"the ranks are {self.ranks}")
        self.y = phi(self.A, self.V)
        require(self.y == layer.point(self.found["y"]), "y is not φ(A, V)")
        self.preimages = self._fiber()
        self.critical = self._critical()
        self._approach()
        self.lower, self.upper = self._tangent()

    def _fiber(self) -> int:
        """How many pairs have the point p, up to (sA, V/s). At most 2, as linear forms are prime.

        Take V_c, A_b ≠ 0. A pair (A', V') over p has V'_c A'_b = V_c A_b, so up to scaling V'_c = V_c, and
        then A' = A, V' = V by division; or V'_c = A_b and A'_b = V_c. This is another pair only where these
        are not parallel; then A_b divides V_c A_{b'}, hence A_{b'}, for all b', and V_c divides all V_{c'}:
        so rk A = rk V = 1, and the other pair is (v qᵀ, h kᵀ) for A = k qᵀ, V = h vᵀ.
        """
        exists = self.ranks == (1, 1, 2)
        require(("second" in self.found) == exists, "a preimage is missing, or is one too many")
        if exists:
            A, V = self.found["second"]
            A, V = self.layer.matrix(A, self.layer.d), self.layer.matrix(V, self.layer.o)
            require(phi(A, V) == self.y and rank([A, self.A]) == 2, "the second preimage is none")
        return 2 if exists else 1

    def _critical(self) -> bool:
        """Whether dφ kills more than (A, −V) in the tangent cone of {rk ≤ a} times all V̇.

        No, if it kills nothing else at all. Yes, if it kills the direction given and A + εȦ has rank ≤ a.
        """
        A, V, d, o = self.A, self.V, self.layer.d, self.layer.o
        units = [differential(A, V, {(k, b, 0): 1}, {}) for k, b in self.layer.places(d)]
        units += [differential(A, V, {}, {(c, i, 0): 1}) for c, i in self.layer.places(o)]
        kernel = len(units) - rank(units)
        require(("critical" in self.found) == (kernel > 1), f"the kernel of dφ has dimension {kernel}")
        if kernel == 1:
            return False
        dA, dV = self.found["critical"]
        dA, dV = self.layer.matrix(dA, d), self.layer.matrix(dV, o)
        require(differential(A, V, dA, dV) == {}, "dφ does not kill the critical direction")
        # As dφ(0, V̇) = 0 only for V̇ = 0, a multiple of (A, −V) can be told by Ȧ.
        require(rank([dA, A]) == 2, "the critical direction is a rescaling")
        thin = min(rank(lines(dA, axis) + lines(A, axis)) for axis in (0, 1))
        require(thin <= self.layer.a, "A + εȦ is not seen to have rank ≤ a")
        return True

    def _approach(self) -> None:
        """If p is critical it is a limit of real points of M̄ outside M, and only then.

        Real points outside M have two complex-conjugate preimages, which converge to preimages of p. All of
        these are real, so the two limits agree; near it φ is not injective modulo scaling: it is critical.
        Conversely let A = k qᵀ, V = h kᵀ, and n a unit vector not parallel to k. Then h⊗q⊗(k² + εn²), ε > 0,
        is in M̄, k² + εn² being a product of complex linear forms, and not in M, as it is none of real ones.
        """
        require(("approach" in self.found) == self.critical, "a sequence is missing, or is one too many")
        if self.critical:
            require(self.ranks == (1, 1, 1), "a critical point that has other ranks than 1, 1, 1")
            k, i = lines(self.A, 1)[0], min(self.A)[0]
            n = next(n for n in range(1, self.layer.d + 1) if set(k) != {(n,)})
            q, h = lines(self.A, 0)[0], {c: x for (c, j, _), x in self.V.items() if j == i}
            direction = phi({(n, b, 0): x for (b,), x in q.items()}, {(c, n, 0): x for c, x in h.items()})
            require(direction == self.layer.point(self.found["approach"]), "another sequence than h⊗q⊗n²")

    def _tangent(self) -> tuple[int, int]:
        """Bounds of dim T_p M̄: arcs from below; from above the source, or equations."""
        layer, found = self.layer, self.found
        lower, upper = layer.source(layer.a), layer.ambient  # dim M̄, as Facts proves, and N
        if self.preimages == 1 and not self.critical:
            # One reduced preimage: the map, finite on projective varieties, is a local isomorphism onto M̄.
            lower = upper = layer.source(self.ranks[1])
        require(("arcs" in found) == ("tangent" in found), "arcs and a tangent dimension go together")
        if "arcs" in found:
            spanned = rank(vector for arc in found["arcs"] for vector in self._arc(arc))
            require(spanned == integer(found["tangent"]), f"the arcs span {spanned} dimensions")
            lower = max(lower, spanned)
        if "equations" in found:
            gradients = [gradient(equation, self.y) for equation in equations(layer, found["equations"])]
            require(rank(gradients) == len(gradients), "the gradients of the equations are dependent")
            upper = min(upper, layer.ambient - len(gradients))
        require(lower <= upper, f"a tangent space of at least {lower} and at most {upper} dimensions")
        return lower, upper

    def _arc(self, value: Any) -> list[Sparse]:
        """Tangent vectors of M̄ at p from the arc φ(K(ε)ᵀQ(ε), V(ε)), where K and Q have a rows.

        Modulo ε^{2m} an equation of M̄ at p + ε^m v_m + ε^{m+1} v_{m+1} + ... is linear in v_m, ..., v_{2m−1}.
        """
        layer, arc = self.layer, fields(value, "K Q V y")
        A: Sparse = {}
        K, Q = (self._rows(layer.matrix(arc[name], layer.a, ANY)) for name in "KQ")
        for row in K.keys() & Q.keys():
            for ((k, p), x), ((b, q), z) in product(K[row].items(), Q[row].items()):
                A = plus(A, {(k, b, p + q): x * z})
        moving = layer.point(arc["y"], (1, ANY[1]))
        constant_and_moving = phi(A, layer.matrix(arc["V"], layer.o, ANY))
        require(bool(moving) and constant_and_moving == self.y | moving, "an arc has another expansion")
        vectors: dict[int, Sparse] = {}
        for (power, *name), x in moving.items():
            vectors.setdefault(power, {})[tuple(name)] = x
        return [vector for power, vector in vectors.items() if power < 2 * min(vectors)]

    def _rows(self, matrix: Sparse) -> dict[int, Sparse]:
        """The rows of K or Q, which must differ: else what is in one row of the other could be in either."""
        rows: dict[int, Sparse] = {}
        for (row, *place), x in matrix.items():
            rows.setdefault(row, {})[tuple(place)] = x
        require(len({frozenset(row.items()) for row in rows.values()}) == len(rows), "two rows are equal")
        return rows


def equations(layer: Layer, value: Any) -> Iterable[Sparse]:
    """Polynomials [[coefficient, [c, b, i, k], ...], ...] that vanish on M̄, read and verified."""
    for terms in value:
        equation: Sparse = {}
        for coefficient, *names in terms:
            monomial = tuple(name for factor in names for _, *name in layer.point([[*factor, 1]]))
            key = tuple(map(tuple, monomial))
            require(list(key) == sorted(key) and key > max(equation, default=()), "a term is out of order")
            require(integer(coefficient) != 0, "a term is 0")
            equation[key] = coefficient
        # If it vanishes for all A, then for those of rank ≤ a; otherwise A = KᵀQ is put in.
        vanishes = not expand(equation, 0) or (layer.a < layer.d and not expand(equation, layer.a))
        require(bool(equation) and vanishes, "an equation does not vanish on M̄")
        yield equation


# The claims -------------------------------------------------------------------------------------------------

ZERO, PINCH, CROSSING = (0, 0, 0), (1, 1, 1), (1, 1, 2)
Ranks = tuple[int, ...]


class Facts:
    """All that a certificate proves about one layer: every orbit, and dim M̄."""

    def __init__(self, document: Any) -> None:
        found = fields(document, "format about d d_out a dimension strata claims")
        self.layer = Layer(*(integer(found[name]) for name in ("d", "d_out", "a")))
        # First what is quick to compare: nothing below runs over many indices that a wrong d or d' makes up.
        self.dimension = self.layer.source(self.layer.a)
        require(self.dimension == integer(found["dimension"]), f"the dimension is {self.dimension}")
        self.orbits = {orbit.ranks: orbit for orbit in (Orbit(self.layer, x) for x in found["strata"])}
        listed = [orbit["ranks"] for orbit in found["strata"]]
        require(listed == list(map(list, self.layer.orbits())), "the strata are not all of them, in order")
        self.top = self.orbits[max(self.orbits)]
        self._dimension()

    def _moves(self) -> list[Sparse]:
        """The derivatives of (K, Q) ↦ KᵀQ at a pair over A in the open orbit, where rk A = a."""
        A, indices = self.top.A, range(1, self.layer.d + 1)
        moves = [{(k, *b, 0): x for b, x in q.items()} for k in indices for q in lines(A, 0)]
        return moves + [{(*k, b, 0): x for k, x in column.items()} for b in indices for column in lines(A, 1)]

    def _dimension(self) -> None:
        """The parameters modulo scaling bound dim M̄; the rank of the derivative of φ(KᵀQ, V) meets that."""
        velocities = [phi(move, self.top.V) for move in self._moves()]
        velocities += [phi(self.top.A, {(c, i, 0): 1}) for c, i in self.layer.places(self.layer.o)]
        require(rank(velocities) == self.dimension, "the dimension is not proved")

    def factorization(self) -> list[Ranks]:
        """Nowhere, if the derivative of (K, Q) ↦ KᵀQ has rank a(2d − a), and so a kernel of dimension a².

        Where rk KᵀQ = a the rows of K and Q are independent: from K'ᵀQ' = KᵀQ follows Q' = CQ with exactly
        one C, as the rows of both span the row space of A, and then K' = C⁻ᵀK.
        """
        d, a = self.layer.d, self.layer.a
        require(self.top.ranks[1] == a and rank(self._moves()) == a * (2 * d - a), "the rank is another")
        return []

    def failing(self, fails: Callable[[Orbit], bool]) -> list[Ranks]:
        """The orbits where a statement fails."""
        return [orbit.ranks for orbit in self.orbits.values() if fails(orbit)]

    def fibers(self) -> list[Ranks]:
        """Where there are other preimages than (A, V) and, at (1,1,2), (v qᵀ, h kᵀ)."""
        return self.failing(lambda orbit: orbit.preimages != 1 + (orbit.ranks == CROSSING))

    def birational(self) -> list[Ranks]:
        """Where there are too many preimages: more than 2, or more than 1 on the open orbit."""
        return self.failing(lambda orbit: orbit.preimages > 2 - (orbit is self.top))

    def closed(self) -> list[Ranks]:
        """Where y = 0 though A ≠ 0 and V ≠ 0. If nowhere, M is a cone over the image of a compact space."""
        return self.failing(lambda orbit: not orbit.y)

    def critical(self) -> list[Ranks]:
        """Where a point is critical, and so on the boundary, against what is said, or the reverse.

        The point 0 is both: for d ≥ 2 dφ kills (Ȧ, 0) at (A, 0), and (0, V̇) at (0, V), and there is more than
        one direction Ȧ in the tangent cone; and M̄ is a cone that contains points outside M.
        """
        return self.failing(lambda orbit: orbit.critical != (orbit.ranks == PINCH))

    def singular(self, predicted: Callable[[Ranks], bool]) -> list[Ranks]:
        """Where M̄ is singular against the prediction, or the reverse."""
        wrong: list[Ranks] = []
        # M̄ is a cone with all unit vectors φ(e_k e_bᵀ, e_c e_iᵀ) in it: its tangent space at 0 is everything.
        bounds: dict[Ranks, tuple[int, int]] = {ZERO: (self.layer.ambient, self.layer.ambient)}
        bounds |= {orbit.ranks: (orbit.lower, orbit.upper) for orbit in self.orbits.values()}
        for ranks, (lower, upper) in bounds.items():
            require(lower > self.dimension or upper == self.dimension, f"{ranks}: singular or not, is open")
            if (lower > self.dimension) != predicted(ranks):
                wrong.append(ranks)
        return wrong

    def paper(self, ranks: Ranks) -> bool:
        """Whether a point is singular, as the paper says: rk V ≤ 1 and rk A ≤ 1."""
        return ranks[0] <= 1 and ranks[1] <= 1

    def corrected(self, ranks: Ranks) -> bool:
        """Whether a point is singular, by the corrected theorem."""
        d, o, a = self.layer.d, self.layer.o, self.layer.a
        if ranks == ZERO or a == o == 1:
            return ranks == ZERO or (d >= 3 and ranks == PINCH)
        return ranks[:2] == (1, 1) or (2 <= a < d and ranks[1] < a)

    def tangents(self) -> list[Ranks]:
        """Where dim T_p M̄ is another than by the formula."""
        d, o, a = self.layer.d, self.layer.o, self.layer.a

        def formula(ranks: Ranks) -> int:
            if ranks in (PINCH, CROSSING):
                inner = d * (d + 1) // 2 if ranks == PINCH else 2 * d - 1
                return (d + o - 1) * inner if a >= 2 else o * inner + d - 1
            return self.layer.source(ranks[1])

        require(all(orbit.lower == orbit.upper for orbit in self.orbits.values()), "a tangent space is open")
        return self.failing(lambda orbit: orbit.lower != formula(orbit.ranks))

    def degree(self) -> int:
        """deg M̄: that of the Segre product of P{rk A ≤ a} and P(ℂ^{d'd}), over the preimages of a point.

        It is projected without base points. deg {rk A ≤ a} is Giambelli's formula.
        """
        d, o, a = self.layer.d, self.layer.o, self.layer.a
        matrices = prod(comb(d + i, a) for i in range(d - a)) // prod(comb(a + i, a) for i in range(d - a))
        return comb(self.layer.source(a) - 1, o * d - 1) * matrices // self.top.preimages

    def products(self) -> list[Ranks]:
        """Nowhere, if the coefficients of V X Xᵀ A X are those of V_c(u)·A_b(u), and fixed combinations.

        Both are linear in A and in V: it is enough to try A = e_k e_bᵀ, V = e_iᵀ, for which φ(X)_τ is
        Σ_j x_{ij} x_{kj} x_{bτ}. Two tokens j, τ tell; of one token come the sums over the places of b.
        """
        for i, k, b in product(range(1, self.layer.d + 1), repeat=3):
            [(_, _, column, one, other)] = phi({(k, b, 0): 1}, {(1, i, 0): 1})
            for j in (1, 2):
                found, claimed = [(i, j), (k, j), (b, 2)], [(one, j), (other, j), (column, 2)]
                require(sorted(found) == sorted(claimed), "V X Xᵀ A X has other coefficients")
        return []


@dataclass(frozen=True)
class Claim:
    """What is certified: the statement, where it applies, and where it fails."""

    statement: str
    fails: Callable[[Facts], list[Ranks]]
    wide: bool = True
    no_product: bool = True

    def applies(self, layer: Layer) -> bool:
        """Whether its hypotheses hold; t ≥ 2 always does."""
        return not (self.wide and layer.d < 2) and not (self.no_product and layer.a == layer.o == 1)


BY_PAPER = "M is singular exactly at rk A ≤ 1, rk V ≤ 1"
CLAIMS = {
    "lemma-3.1": Claim(
        "K and Q with KᵀQ of rank a ≤ d are unique up to one C in GL(a); fibers have dimension a², "
        "{rk A ≤ a} has dimension a(2d − a)", Facts.factorization, wide=False, no_product=False),
    "theorem-3.2": Claim(
        "over φ(A, V) ≠ 0 lie the rescalings of (A, V), and of (v qᵀ, h kᵀ) for A = k qᵀ, V = h vᵀ; over 0 "
        "the pairs with A = 0 or V = 0", Facts.fibers, wide=False, no_product=False),
    "corollary-3.3": Claim("dim M = α(2d − α) + dd' − 1", lambda facts: [], wide=False),
    "theorem-3.4.closed": Claim("M is closed", Facts.closed),
    "theorem-3.4.boundary": Claim("the boundary of M in M̄(ℝ) is {A = k qᵀ, V = h kᵀ}", Facts.critical),
    "theorem-3.4.singular": Claim(BY_PAPER, lambda facts: facts.singular(facts.paper)),
    "corollary-A.1": Claim("M is closed", Facts.closed),
    "corollary-A.2": Claim("up to scaling φ is birational, with fibers of at most 2", Facts.birational),
    "lemma-A.3": Claim("(A, V) is critical iff A = 0, V = 0, or A = k qᵀ and V = h kᵀ", Facts.critical),
    "corollary-A.4": Claim(BY_PAPER, lambda facts: facts.singular(facts.paper)),
    "proposition-A.5": Claim("φ has the coefficients of the products V_c(u)·A_b(u)", Facts.products),
    "corollary-A.6": Claim("the boundary of M is the image of the critical points", lambda facts: []),
    "agattn.degree": Claim(
        "deg M̄ = C(α(2d − α) + dd' − 2, dd' − 1)·deg D_α, halved if a = d' = 1 < d",
        lambda facts: facts.failing(lambda orbit: orbit is facts.top and orbit.preimages != 1 + (
            facts.layer.a == facts.layer.o == 1 < facts.layer.d)), wide=False, no_product=False),
    "agattn.singular-locus": Claim(
        "M̄ is singular exactly at 0, at rk A = rk V = 1, and at rk A < a if 2 ≤ a < d; for a = d' = 1 at 0 "
        "and, if d ≥ 3, at (1,1,1)", lambda facts: facts.singular(facts.corrected), no_product=False),
    "agattn.tangent-dimension": Claim(
        "dim T_p M̄ is what the closed formula says, on every stratum", Facts.tangents, no_product=False),
}  # fmt: skip


def check(document: Any) -> dict[str, Any]:
    """Verify a certificate: whether it is valid as a whole, and the verdict on each claim.

    A claim that the file does not certify has ``valid`` None; a flaw anywhere makes all others invalid.

    Raises:
        UnreadableError: if the document is no certificate.
    """
    if not (isinstance(document, dict) and document.get("format") == FORMAT):
        raise UnreadableError(f"it is not a certificate of the format {FORMAT!r}")
    results: list[dict[str, Any]] = []
    layer = ""
    try:
        facts = Facts(document)
        layer = f"M({facts.layer.d},{facts.layer.o},{facts.layer.a}), t ≥ 2"
        for record in document["claims"]:
            results.append(_claim(facts, record))
        require(len({result["id"] for result in results}) == len(results), "a claim occurs twice")
        flaw = "" if any(result["valid"] for result in results) else "nothing is certified"
    except (Flaw, *MALFORMED) as error:
        flaw = str(error) or type(error).__name__
        listed = document.get("claims")
        named = [x for x in listed if isinstance(x, dict)] if isinstance(listed, list) else []
        results = [
            {"id": str(x.get("id")), "valid": False, "reason": flaw} for x in named if "certificate" not in x
        ]
    return {"valid": not flaw, "flaw": flaw, "layer": layer, "claims": results}


def _claim(facts: Facts, record: Any) -> dict[str, Any]:
    """What a certificate says of one claim, if that follows from the facts."""
    if "certificate" in record:
        fields(record, "id certificate reason")
        return {"id": str(record["id"]), "valid": None, "reason": f"not certified: {record['reason']}"}
    name = record["id"]
    require(name in CLAIMS, f"{name} is not a claim that can be certified")
    claim = CLAIMS[name]
    fields(record, "id verdict fails_at" + (" degree" if name == "agattn.degree" else ""))
    require(claim.applies(facts.layer), f"{name} does not apply")
    fails = claim.fails(facts)
    stated = [tuple(map(integer, ranks)) for ranks in record["fails_at"]]
    require(stated == fails, f"{name} fails at {fails}")
    verdict = "refuted" if fails else "confirmed"
    require(record["verdict"] == verdict, f"{name} is {verdict}")
    require(
        integer(record.get("degree", facts.degree())) == facts.degree(), f"the degree is {facts.degree()}"
    )
    where = f" It fails at {', '.join(str(ranks).replace(' ', '') for ranks in fails)}." if fails else ""
    return {"id": name, "valid": True, "reason": f"{verdict}: {claim.statement}.{where}"}


def described(result: dict[str, Any]) -> str:
    """What :func:`check` found, for people: a line for each claim, the layer, and the outcome."""
    words = {True: "valid", False: "NOT VALID", None: "-"}
    width = max((len(claim["id"]) for claim in result["claims"]), default=0)
    lines = [f"{c['id']:{width}}  {words[c['valid']]:9}  {c['reason']}" for c in result["claims"]]
    lines += [f"\nAbout {result['layer']}."] if result["layer"] else []
    return "\n".join(
        [*lines, "The certificate is valid." if result["valid"] else f"Not valid: {result['flaw']}."]
    )
