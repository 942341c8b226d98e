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
from dataclasses import dataclass, field

from agattn.architectures import SingleLayer
from agattn.errors import InputError
from agattn.evidence import Evidence, Shown
from agattn.geometry.critical_points.charts import singular_strata
from agattn.geometry.critical_points.ed_degree import numbers_by_theorem
from agattn.geometry.critical_points.elimination import ELIMINATION, equation
from agattn.geometry.critical_points.loss import GeneralLoss, Loss
from agattn.geometry.critical_points.real_points import RealPart
from agattn.geometry.strata.strata import Stratum, open_stratum

THEOREM = "theorem"


@dataclass(frozen=True)
class CriticalSet:
    """The critical points of a loss on a stratum.

    ``dimension`` is −1 if there are none. ``degree`` is their number, with multiplicity, where it is 0 or −1;
    else the degree of the closure of their part of largest dimension, which says nothing of isolated ones.
    """

    dimension: int
    degree: int

    @property
    def count(self) -> int | None:
        """The number of critical points with multiplicity; ``None`` where they are infinitely many."""
        return None if self.dimension > 0 else self.degree

    def __str__(self) -> str:
        if self.count is not None:
            return str(self.count)
        return f"of dimension {self.dimension} and degree {self.degree}"


@dataclass(frozen=True, repr=False)
class CriticalPoints(Shown):
    """The complex critical points of a loss on the smooth part of M̄ and on each singular stratum but 0.

    Attributes:
        loss: the loss; for ``"theorem"`` those of general data, or with a general target.
        found: what was found for each stratum, the open one first.
        fields: characteristics of the fields over which engines computed; 0 for ℚ, none for ``"theorem"``.
        engine: name and version of the engine that did, or ``"native"``.
        method: ``"weights"``, ``"equations"``, ``"elimination"`` or ``"theorem"``.
        real: the real ones by strata, where they were asked for; on the boundary of M, too.
        exact: whether the engine proves what it says over ℚ.
        proofs: for each stratum with a number that is proved natively what proves it: ``"elimination"``, for
            this loss, or the id of a theorem, for general data or a general target.
    """

    loss: Loss | GeneralLoss
    found: Mapping[Stratum, CriticalSet]
    fields: tuple[int, ...]
    engine: str
    method: str = "weights"
    real: tuple[RealPart, ...] = ()
    exact: bool = True
    proofs: Mapping[Stratum, str] = field(default_factory=dict)

    @property
    def layer(self) -> SingleLayer:
        """The layer."""
        return self.loss.layer

    @property
    def smooth(self) -> CriticalSet:
        """Those on the smooth part."""
        return next(iter(self.found.values()))

    @property
    def regular(self) -> int | None:
        """The number of critical points on the smooth part; ``None`` where they are infinitely many."""
        return self.smooth.count

    @property
    def dimension(self) -> int:
        """The dimension of the set of those on the smooth part; −1 if there are none."""
        return self.smooth.dimension

    @property
    def strata(self) -> dict[Stratum, CriticalSet]:
        """Those of the loss on each singular stratum."""
        return dict(list(self.found.items())[1:])

    @property
    def theorem(self) -> str | None:
        """The id of the theorem that gives the number on the smooth part; ``None`` where none does."""
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

    @property
    def evidence(self) -> Evidence:
        """How the number on the smooth part is known."""
        return self.evidence_on(next(iter(self.found)))

    def evidence_on(self, stratum: Stratum) -> Evidence:
        """How the number on a stratum is known.

        ``proved`` natively, or over ℚ by the equation of a hypersurface; else ``modular``. A chart may miss
        points, and of several equations those chosen may have dependent gradients at some, which a general
        loss does not have as critical points.
        """
        return Evidence.PROVED if stratum in self.proofs else self._counted

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

    def __str__(self) -> str:
        singular = "; ".join(f"{stratum}: {found}" for stratum, found in self.strata.items())
        singular = f", singular ones {singular}" if singular else ""
        number = self.regular
        known = "critical points " + str(self.smooth) if number is None else f"{number} critical point"
        known += "s" * (number not in (None, 1))
        return f"{self.layer.name}, {self.data}: {known}{singular} ({self.evidence})"

    def as_json(self) -> dict[str, object]:
        """The counts with the keys of the command line's contract."""
        from agattn import records

        part = records.CriticalPoints.Part
        strata = [
            records.document(part, found, theorem=self.theorem_on(s), evidence=self.evidence_on(s), **vars(s))
            for s, found in self.strata.items()
        ]
        return records.document(
            records.CriticalPoints, self,
            architecture=self.layer, metric=self.loss.metric, samples=self.loss.samples, rank=self.loss.rank,
            degree=self.smooth.degree, fields=[f"ZZ/{p}" if p else "QQ" for p in self.fields], strata=strata,
            real=[point for part in self.real for point in part.points], real_parts=self.real,
        )  # fmt: skip


def counts_by_theorem(
    layer: SingleLayer, metric: str, samples: int | None = None, smooth: bool = False
) -> CriticalPoints | None:
    """The numbers for general data, or a general target, by theorems; ``None`` where none gives the first.

    Args:
        layer: the layer.
        metric: of the loss.
        samples: a number of samples that is known to be enough.
        smooth: the smooth part alone.
    """
    known = numbers_by_theorem(layer, metric, smooth)
    if not known:
        return None
    return CriticalPoints(
        GeneralLoss(layer, metric, samples),
        {stratum: CriticalSet(0, number) for stratum, (number, _) in known.items()},
        (), "native", THEOREM,
        proofs={stratum: theorem for stratum, (_, theorem) in known.items()},
    )  # fmt: skip


def counts_by_elimination(loss: Loss, smooth: bool = False) -> CriticalPoints | None:
    """The numbers for a loss where all but one parameter can be eliminated, for d = 2 and d' = 1.

    ``None`` elsewhere, for a loss that is no distance or whose b is 0, and where there are infinitely many.

    >>> from agattn.geometry.critical_points.loss import loss
    >>> print(counts_by_elimination(loss(SingleLayer(2, 1), "gaussian")))
    M(2,1,2), gaussian: 6 critical points, singular ones (1,1,1): 6; (1,1,2): 6 (proved)
    """
    layer, found = loss.layer, {}
    if (
        not layer.has_orbits
        or (layer.d, layer.d_out) != (2, 1)
        or loss.rank < loss.size
        or not any(loss.linear)
    ):
        return None
    for stratum in (open_stratum(layer), *(() if smooth else singular_strata(layer))):
        try:
            number = equation(layer, loss, None if stratum == open_stratum(layer) else stratum).number()
        except InputError:  # all θ are critical
            return None
        if number is None:
            return None
        found[stratum] = CriticalSet(0 if number else -1, number)
    return CriticalPoints(
        loss, found, (0,), ELIMINATION, ELIMINATION, proofs=dict.fromkeys(found, ELIMINATION)
    )
