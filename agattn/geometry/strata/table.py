"""Everything known about each stratum of a layer, as one JSON-ready document.

>>> from agattn import SingleLayer
>>> document = survey(SingleLayer(3, 2, 2))
>>> [row] = [row for row in document["strata"] if (row["r_v"], row["r_a"], row["r"]) == (2, 1, 2)]
>>> row["tangent_dimension"], document["dimension"], row["singular"], row["singular_by_paper"]
(14, 13, True, False)
"""

from __future__ import annotations

from typing import Any

from agattn.architectures import SingleLayer
from agattn.evidence import Evidence, Shown
from agattn.geometry.strata.boundary import boundary
from agattn.geometry.strata.critical import stratum_criticality
from agattn.geometry.strata.singularity_types import local_type
from agattn.geometry.strata.strata import (
    Stratum,
    closure_order,
    definite_stratum,
    image_dimension,
    singular_by_paper,
    strata,
)
from agattn.geometry.strata.tangent import neuromanifold_dimension, tangent_bounds


class StrataTable(Shown, dict[str, Any]):
    """The document about all strata: a dictionary that a notebook shows as a table."""


def survey(layer: SingleLayer) -> StrataTable:
    """Ranks, dimension, preimages, tangent space, boundary and closure of every stratum.

    ``preimages`` is ``None`` at 0, whose fiber is {A = 0} ∪ {V = 0}; ``singular_by_paper`` is ``None`` where
    the hypotheses of HMK, Theorem 3.4 do not hold; ``closure`` lists the strata directly below.

    Raises:
        InputError: if t = 1.
    """
    order = closure_order(layer)
    outside = definite_stratum(layer)
    table = {
        "architecture": layer.as_json(),
        "dimension": neuromanifold_dimension(layer),
        "ambient": layer.ambient_dimension,
        "evidence": Evidence.PROVED.value,
        "strata": [_row(layer, stratum, sorted(order.successors(stratum))) for stratum in strata(layer)],
        "outside": None
        if outside is None
        else {
            "description": "h ⊗ q ⊗ Q with Q definite of rank 2: in the real Zariski closure of M, not in M",
            "dimension": outside.dimension,
            "closure": [_triple(stratum) for stratum in outside.closure()[-1:]],
        },
    }
    return StrataTable(table)


def _triple(stratum: Stratum) -> list[int]:
    return [stratum.r_v, stratum.r_a, stratum.r]


def _row(layer: SingleLayer, stratum: Stratum, below: list[Stratum]) -> dict[str, Any]:
    bounds = tangent_bounds(layer, stratum)
    edge = boundary(layer, stratum)
    kind = local_type(layer, stratum)
    return {
        "r_v": stratum.r_v,
        "r_a": stratum.r_a,
        "r": stratum.r,
        "dimension": image_dimension(layer, stratum),
        "preimages": None if bounds.fiber is None else bounds.fiber.number,
        "preimage_lengths": None if bounds.fiber is None else [p.length for p in bounds.fiber.points],
        "critical": stratum_criticality(layer, stratum).critical,
        "tangent_dimension": bounds.value,
        "tangent_bounds": [bounds.lower, bounds.upper],
        "tangent_reason": f"from below: {bounds.how_lower}; from above: {bounds.how_upper}",
        "singular": bounds.singular,
        "singular_by_paper": singular_by_paper(layer, stratum),
        "local_type": {"name": kind.name, "description": kind.description},
        "boundary": edge.on_boundary,
        "boundary_reason": edge.reason,
        "boundary_sequence": None if edge.sequence is None else str(edge.sequence),
        "closure": [_triple(s) for s in below],
    }
