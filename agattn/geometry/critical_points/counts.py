"""How many critical points a loss has, stratum by stratum, and how that is known.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> layer = SingleLayer(2, 1)
>>> found = {Stratum(1, 2, 2): CriticalSet(1, 4), Stratum(1, 1, 2): CriticalSet(0, 10)}
>>> print(CriticalPoints(loss(layer, samples=2), found, (32003,), "singular 4.4.1"))
M(2,1,2), generic, 2 samples: critical points of dimension 1 and degree 4, singular ones (1,1,2): 10 (modular)
>>> print(counts_by_theorem(layer, "generic"))
M(2,1,2), generic, general data: 14 critical points, singular ones (1,1,1): 14; (1,1,2): 10 (proved)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agattn.architectures import SingleLayer
from agattn.errors import TooLargeError, argument
from agattn.evidence import Evidence
from agattn.geometry.critical_points.charts import singular_strata
from agattn.geometry.critical_points.ed_degree import MAX_OUT, MAX_SUMS, numbers_by_theorem, size_of_sums
from agattn.geometry.critical_points.elimination import ELIMINATION, number_by_elimination
from agattn.geometry.critical_points.loss import AboutLoss, GeneralLoss, Loss, enough_samples, loss
from agattn.geometry.critical_points.real_points import RealCriticalPoint, RealPart, expected_sum, real_table
from agattn.geometry.strata.strata import ByStratum, Stratum, open_stratum
from agattn.limits import limits
from agattn.sheet.data import Cell, Note, Sheet, Table
from agattn.sheet.result import Count, Key, Named, Result, Written, field, key

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
    if summed and not limits().force and size_of_sums(layer) > MAX_SUMS:
        raise TooLargeError(
            f"{layer.name}: the sums of the theorem on general data have more than {MAX_SUMS:.0e} terms. "
            f"Use {argument('force', True)} to start all the same"
        )
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
    return CriticalPoints(
        loss, parts, (0,), ELIMINATION, ELIMINATION, proofs=dict.fromkeys(parts, ELIMINATION)
    )
