"""How many critical points a loss has, stratum by stratum, and how that is known.

>>> from agattn.architectures import SingleLayer
>>> from agattn.geometry.critical_points.loss import loss
>>> layer = SingleLayer(2, 1)
>>> found = {Stratum(1, 2, 2): CriticalSet(1, 4), Stratum(1, 1, 2): CriticalSet(0, 10)}
>>> print(CriticalPoints(loss(layer, samples=2), found, (32003,), "singular 4.4.1"))
M(2,1,2), generic, 2 samples: critical points of dimension 1 and degree 4, singular ones (1,1,2): 10 (modular)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agattn.architectures import SingleLayer
from agattn.evidence import Evidence, Shown
from agattn.geometry.critical_points.loss import Loss
from agattn.geometry.critical_points.real_points import RealPart
from agattn.geometry.strata.strata import Stratum


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
        loss: the loss.
        found: what was found for each stratum, the open one first.
        fields: characteristics of the fields over which engines computed; 0 for ℚ.
        engine: name and version of the engine that did.
        method: ``"weights"``, ``"equations"`` or ``"elimination"``.
        real: the real ones by strata, where they were asked for; on the boundary of M, too.
        exact: whether the engine proves what it says over ℚ.
    """

    loss: Loss
    found: Mapping[Stratum, CriticalSet]
    fields: tuple[int, ...]
    engine: str
    method: str = "weights"
    real: tuple[RealPart, ...] = ()
    exact: bool = True

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
    def evidence(self) -> Evidence:
        """``proved`` over ℚ by the equation of a hypersurface; else ``modular``.

        A chart may miss points, and of several equations those chosen may have dependent gradients at some,
        which a general loss does not have as critical points. Elimination proves its numbers.
        """
        if self.method == "elimination":
            return Evidence.PROVED
        hypersurface = self.layer.ambient_dimension - self.layer.expected_dimension == 1
        proved = self.exact and 0 in self.fields and self.method == "equations" and hypersurface
        return Evidence.PROVED if proved else Evidence.MODULAR

    @property
    def data(self) -> str:
        """The loss in words."""
        number = self.loss.samples
        return (
            self.loss.metric
            if number is None
            else f"{self.loss.metric}, {number} sample{'s' * (number != 1)}"
        )

    def __str__(self) -> str:
        singular = "; ".join(f"{stratum}: {found}" for stratum, found in self.strata.items())
        singular = f", singular ones {singular}" if singular else ""
        finite = "" if self.regular is None else f"{self.regular} "
        more = f" {self.smooth}" if self.regular is None else ""
        return f"{self.layer.name}, {self.data}: {finite}critical points{more}{singular} ({self.evidence})"

    def as_json(self) -> dict[str, object]:
        """The counts with the keys of the command line's contract."""
        from agattn import records

        part = records.CriticalPoints.Part
        strata = [records.document(part, found, **vars(s)) for s, found in self.strata.items()]
        return records.document(
            records.CriticalPoints, self,
            architecture=self.layer, metric=self.loss.metric, samples=self.loss.samples, rank=self.loss.rank,
            degree=self.smooth.degree, fields=[f"ZZ/{p}" if p else "QQ" for p in self.fields], strata=strata,
            real=[point for part in self.real for point in part.points], real_parts=self.real,
        )  # fmt: skip
