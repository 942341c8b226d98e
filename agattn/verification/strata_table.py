"""Everything known about each stratum of a layer, beside what the paper says of it.

>>> from agattn import SingleLayer
>>> table = strata_table(SingleLayer(3, 2, 2))
>>> [row] = [row for row in table.rows if row.stratum == Stratum(2, 1, 2)]
>>> row.tangent.value, table.dimension, row.tangent.singular, row.singular_by_paper
(14, 13, True, False)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agattn.architectures import SingleLayer
from agattn.evidence import Evidence, Shown
from agattn.geometry.strata.boundary import BoundaryAnswer, boundary
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.singularity_types import LocalType, local_type
from agattn.geometry.strata.strata import (
    Stratum,
    closure_order,
    image_dimension,
    neuromanifold_dimension,
    rank_at_most_one,
    strata,
    stratum_outside,
)
from agattn.geometry.strata.tangent import TangentBounds, tangent_bounds


def singular_by_paper(layer: SingleLayer, stratum: Stratum) -> bool | None:
    """What HMK, Theorem 3.4 (version 2) says: singular when rk A ≤ 1 and rk V ≤ 1.

    ``None`` outside the hypotheses t ≥ 2, d ≥ 2, and a > 1 or d' > 1.

    >>> singular_by_paper(SingleLayer(3, 2, 2), Stratum(2, 1, 2))
    False
    """
    if layer.d < 2 or (layer.a == 1 and layer.d_out == 1):
        return None
    return rank_at_most_one(layer, stratum)


@dataclass(frozen=True)
class StratumRow:
    """One stratum.

    Attributes:
        stratum, dimension: its ranks and its dimension.
        tangent: the Zariski tangent space, with the preimages; these are ``None`` at 0.
        critical: whether the pairs (A, V) over it are critical points.
        local_type: what M̄ looks like nearby.
        boundary: whether it is on the boundary of M relative to M̄(ℝ).
        below: the strata directly below it in the closure order.
    """

    stratum: Stratum
    dimension: int
    tangent: TangentBounds
    critical: bool | None
    singular_by_paper: bool | None
    local_type: LocalType
    boundary: BoundaryAnswer
    below: tuple[Stratum, ...]

    @property
    def contradicts_paper(self) -> bool:
        """Whether the paper's answer is a different one, where both are known."""
        return None not in (found := (self.singular_by_paper, self.tangent.singular)) and len(set(found)) > 1

    def cells(self, unknown: str = "–", to: str = " to ") -> dict[str, str | int]:
        """The row in words: ``unknown`` stands for what is not known, ``to`` between two bounds."""

        def word(answer: bool | None) -> str:
            return unknown if answer is None else ("yes" if answer else "no")

        tangent = self.tangent
        return {
            "stratum": str(self.stratum),
            "dimension": self.dimension,
            "preimages": unknown if tangent.fiber is None else tangent.fiber.number,
            "critical": word(self.critical),
            "tangent space": tangent.value or f"{tangent.lower}{to}{tangent.upper}",
            "singular": word(tangent.singular),
            "singular by HMK": word(self.singular_by_paper),
            "boundary": word(self.boundary.on_boundary),
        }

    def as_json(self) -> dict[str, Any]:
        """The row, JSON-ready; ``preimages`` is ``None`` at 0, whose fiber is {A = 0} ∪ {V = 0}."""
        from agattn import records

        tangent, fiber, boundary = self.tangent, self.tangent.fiber, self.boundary
        return records.document(
            records.Strata.Stratum, self, **vars(self.stratum),
            preimages=None if fiber is None else fiber.number,
            preimage_lengths=None if fiber is None else [p.length for p in fiber.points],
            tangent_dimension=tangent.value, tangent_bounds=[tangent.lower, tangent.upper],
            tangent_reason=f"from below: {tangent.how_lower}; from above: {tangent.how_upper}",
            singular=tangent.singular, boundary=boundary.on_boundary, boundary_reason=boundary.reason,
            boundary_sequence=boundary.sequence, closure=self.below,
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class StrataTable(Shown):
    """All strata of a layer, 0 first, one in each row; always proved."""

    layer: SingleLayer
    rows: tuple[StratumRow, ...]
    evidence: Evidence = Evidence.PROVED

    @property
    def dimension(self) -> int:
        """The dimension of M̄."""
        return neuromanifold_dimension(self.layer)

    def __iter__(self) -> Iterator[StratumRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, ranks: tuple[int, int, int]) -> StratumRow:
        """The row of the stratum (r_V, r_A, r); KeyError with those there are."""
        for row in self.rows:
            if tuple(row.stratum.as_json()) == tuple(ranks):
                return row
        raise KeyError(f"no stratum {ranks}; there are {', '.join(str(row.stratum) for row in self.rows)}")

    @property
    def outside(self) -> dict[str, Any] | None:
        """What is known of the points of M̄(ℝ) outside M, JSON-ready; ``None`` if there are none."""
        stratum = stratum_outside(self.layer)
        if stratum is None:
            return None
        return {
            "description": "h ⊗ q ⊗ Q with Q definite of rank 2: in the real Zariski closure of M, not in M",
            "dimension": image_dimension(self.layer, stratum),
            "closure": [Stratum(1, 1, 1).as_json()],
        }

    def as_json(self) -> dict[str, Any]:
        """The table, JSON-ready."""
        from agattn import records

        ambient = self.layer.ambient_dimension
        return records.document(
            records.Strata, self, architecture=self.layer, ambient=ambient, strata=self.rows
        )


def strata_table(layer: SingleLayer) -> StrataTable:
    """Ranks, dimension, preimages, tangent space, boundary and closure of every stratum.

    Raises:
        InputError: if t = 1.
    """
    order = closure_order(layer)
    return StrataTable(
        layer,
        tuple(
            StratumRow(
                stratum,
                image_dimension(layer, stratum),
                tangent_bounds(layer, stratum),
                stratum_criticality(layer, stratum).critical,
                singular_by_paper(layer, stratum),
                local_type(layer, stratum),
                boundary(layer, stratum),
                tuple(sorted(order[stratum])),
            )
            for stratum in strata(layer)
        ),
    )
