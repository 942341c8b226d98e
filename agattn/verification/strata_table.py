"""Everything known about each stratum of a layer, beside what the paper says.

>>> from agattn import SingleLayer
>>> table = strata_table(SingleLayer(3, 2, 2))
>>> [row] = [row for row in table.rows if row.stratum == Stratum(2, 1, 2)]
>>> row.tangent.value, table.dimension, row.tangent.singular, row.singular_by_paper
(14, 13, True, False)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from agattn.architectures import SingleLayer, one_layer
from agattn.calls import is_list, shown
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.geometry.strata.critical import BoundaryAnswer, BoundarySequence, boundary, stratum_criticality
from agattn.geometry.strata.strata import (
    ByStratum,
    Stratum,
    closure_order,
    image_dimension,
    neuromanifold_dimension,
    rank_at_most_one,
    strata,
    stratum_outside,
)
from agattn.geometry.strata.tangent import LocalType, TangentBounds, local_type, tangent_bounds
from agattn.limits import limits, takes
from agattn.sheet.data import Cell, Lines, Note, Sheet, Table, Wide, Word
from agattn.sheet.result import Count, Key, Meta, Named, Positive, Result, Written, key
from agattn.sheet.terminal import text
from agattn.systems.problem import check_size

_HEADINGS = ("stratum", "dim", "fiber", "critical", "dim T", "singular", "HMK", "boundary", "near it")


def singular_by_paper(layer: SingleLayer, stratum: Stratum) -> bool | None:
    """What HMK, Theorem 3.4 (version 2) says: singular when rk A ≤ 1 and rk V ≤ 1.

    ``None`` outside the hypotheses t ≥ 2, d ≥ 2, and a > 1 or d' > 1.

    >>> singular_by_paper(SingleLayer(3, 2, 2), Stratum(2, 1, 2))
    False
    """
    if layer.d < 2 or (layer.a == 1 and layer.d_out == 1):
        return None
    return rank_at_most_one(layer, stratum)


class StratumRow(ByStratum, Result):
    """One stratum."""

    layer: SingleLayer
    stratum: Stratum
    dimension: Key[Count, "The dimension of the stratum."]
    tangent: TangentBounds
    critical: Key[bool | None, "Whether its points are critical values; null where that stayed open."]
    singular_by_paper: Key[bool | None, "By HMK, Theorem 3.4, version 2; null outside its hypotheses."]
    local_type: Key[LocalType, "What the closure looks like near a point of the stratum."]
    nearby: BoundaryAnswer

    @key
    def preimages(self) -> Positive | None:
        """Preimages (A, V) over ℂ up to scaling; null at 0."""
        return None if self.tangent.fiber is None else self.tangent.fiber.number

    @key
    def preimage_lengths(self) -> list[Positive | None] | None:
        """The length of the fiber, as a scheme, at each preimage; null at 0."""
        return None if self.tangent.fiber is None else [point.length for point in self.tangent.fiber.points]

    @key
    def tangent_dimension(self) -> int | None:
        """The dimension of the Zariski tangent space; null where the bounds do not meet."""
        return self.tangent.value

    @key(Meta(min_length=2, max_length=2))
    def tangent_bounds(self) -> list[Count]:
        """The proved lower and upper bound of the tangent dimension."""
        return [self.tangent.lower, self.tangent.upper]

    @key
    def tangent_reason(self) -> str:
        """How the two bounds are known."""
        return f"from below: {self.tangent.how_lower}; from above: {self.tangent.how_upper}"

    @key
    def singular(self) -> bool | None:
        """Whether the points of the stratum are singular on the closure; null if still open."""
        return self.tangent.singular

    @key
    def boundary(self) -> bool:
        """Whether the stratum is on the boundary of M relative to its real Zariski closure."""
        return self.nearby.on_boundary

    @key
    def boundary_reason(self) -> str:
        """Why the stratum is on the boundary, or not."""
        return self.nearby.reason

    @key(Written(str))
    def boundary_sequence(self) -> BoundarySequence | None:
        """Points outside M that converge to the representative."""
        return self.nearby.sequence

    @key(name="closure")
    def below(self) -> tuple[Stratum, ...]:
        """The strata directly below this stratum in the closure order."""
        return tuple(sorted(closure_order(self.layer).successors(self.stratum)))

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
            "singular": word(self.singular),
            "singular by HMK": word(self.singular_by_paper),
            "boundary": word(self.boundary),
        }

    def words(self) -> tuple[Cell, ...]:
        """The row as a terminal shows it, in few letters."""
        cells = self.cells("-", "..")
        if self.tangent.fiber is not None:
            longest = max(point.length or 0 for point in self.tangent.fiber.points)
            cells["preimages"] = f"{cells['preimages']}" + f" (×{longest or '?'})" * (longest != 1)
        cells["singular by HMK"] = f"{cells['singular by HMK']}{' !' * self.contradicts_paper}"
        return (*cells.values(), self.local_type.name)


class Outside(Result):
    """The stratum of the real Zariski closure outside M."""

    description: Key[str, "The points of the stratum in words."]
    dimension: Key[Count, "The dimension of the stratum."]
    closure: Key[tuple[Stratum, ...], "The strata directly below this stratum in the closure order."]


class StrataTable(Result, Mapping[Stratum, StratumRow], name="strata"):
    """All strata of a layer by their ranks (r_V, r_A, r), 0 first; always proved."""

    layer: Key[SingleLayer, "The layer.", Named("architecture")]
    rows: Key[
        tuple[StratumRow, ...],
        "One entry for each stratum, in the order of the ranks.",
        Named("strata"),
        Meta(min_length=1),
    ]
    evidence: Key[Evidence, "Always `proved`.", Written(Literal["proved"])] = Evidence.PROVED

    @key
    def dimension(self) -> Count:
        """The dimension of the neuromanifold."""
        return neuromanifold_dimension(self.layer)

    @key
    def ambient(self) -> Count:
        """N, the number of coordinates."""
        return self.layer.ambient_dimension

    @key
    def outside(self) -> Outside | None:
        """The stratum of the real Zariski closure outside M; null for d = 1."""
        stratum = stratum_outside(self.layer)
        if stratum is None:
            return None
        points = "h ⊗ q ⊗ Q with Q definite of rank 2: in the real Zariski closure of M, not in M"
        return Outside(points, image_dimension(self.layer, stratum), (Stratum(1, 1, 1),))

    def __str__(self) -> str:
        return text(self.sheet())

    def sheet(self) -> Sheet:
        """The strata: two tables, as a page has room for sentences, and the legend of a terminal."""
        found, words = [], list[tuple[Cell, ...]]()
        for row in self.rows:
            cells: dict[str, Cell] = {**row.cells()}
            if row.contradicts_paper:
                cells["singular by HMK"] = Word(f"{cells['singular by HMK']}, differs")
            found.append({**cells, Wide("nearby"): Lines((row.local_type.description,))})
            words.append(row.words())
        caption = f"Strata (rk V, rk A, rk [V; Aᵀ]) of {self.layer.name}, of dimension {self.dimension}"
        page = tuple(tuple(cells.values()) for cells in found)
        legend = (
            "fiber: preimages (A, V) over ℂ up to (sA, V/s), (×m) where one counts m times; dim T: of the "
            "Zariski tangent space; HMK: singular by Theorem 3.4."
        )
        if self.outside is not None:
            legend += (
                "\nNot in M, but in its real Zariski closure: h ⊗ q ⊗ Q, that is y_(c,b) = h_c q_b Q with "
                f"Q a definite form of rank 2; dim {self.outside.dimension}."
            )
        if any(row.contradicts_paper for row in self.rows):
            legend += (
                "\n! HMK, Theorem 3.4 in version 2 has only the points with rk A ≤ 1 and rk V ≤ 1 singular."
            )
        return Sheet(
            f"{self.layer}; strata (rk V, rk A, rk [V; Aᵀ])",
            (
                Table(f"{caption} ({self.evidence})", tuple(found[0]), page, where="page"),
                Table("", _HEADINGS, tuple(words), where="terminal"),
                Note(legend),
            ),
        )

    def __iter__(self) -> Iterator[Stratum]:
        return (row.stratum for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, ranks: Stratum | tuple[int, int, int]) -> StratumRow:
        """The row of the stratum (r_V, r_A, r); KeyError with those there are."""
        there = ", ".join(str(row.stratum) for row in self.rows)
        if isinstance(ranks, Stratum):
            ranks = ranks.r_v, ranks.r_a, ranks.r
        if not is_list(ranks):
            raise InputError(f"index strata by their ranks, not by {shown(ranks)}; there are {there}")
        for row in self.rows:
            if (row.r_v, row.r_a, row.r) == tuple(ranks):
                return row
        raise KeyError(f"no stratum {ranks}; there are {there}")


@takes("force")
def strata_table(layer: SingleLayer) -> StrataTable:
    """Every point of the neuromanifold of a layer, by its stratum: the orbit (rk V, rk A, rk [V; Aᵀ]).

    Each row has the dimension, the preimages, the tangent space, what M̄ looks like nearby, and the boundary;
    all of it is proved.

    Args:
        layer: one layer with t ≥ 2.

    Raises:
        InputError: for a network, for t = 1, or beyond the limits on sizes.

    See Also:
        :func:`agattn.tangent_space`, :func:`agattn.singularities`, :func:`agattn.classify`; ``agattn strata``
        in a shell.

    >>> import agattn as ag
    >>> table = ag.strata(ag.SingleLayer(3, 2, a=2))
    >>> [str(stratum) for stratum, row in table.items() if row.contradicts_paper]
    ['(2,1,2)', '(2,1,3)']
    >>> table[2, 1, 2].tangent_dimension
    14
    """
    layer = one_layer(layer, "strata", "for a network use ag.dimension or ag.verify")
    if not limits().force:
        check_size(layer)
    rows = []
    for stratum in strata(layer):
        at = layer, stratum
        critical, of_paper = stratum_criticality(*at).critical, singular_by_paper(*at)
        facts = image_dimension(*at), tangent_bounds(*at), critical, of_paper, local_type(*at), boundary(*at)
        rows.append(StratumRow(layer, stratum, *facts))
    return StrataTable(layer, tuple(rows))
