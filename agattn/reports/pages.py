"""The audit and the two atlases as pages of Markdown, from templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from agattn.claims import LAYER_CLAIMS as CLAIMS
from agattn.evidence import Evidence
from agattn.experiments.studies.atlas import PointsGroup, Survey, smallest
from agattn.experiments.studies.audit import Audit, cells, words
from agattn.experiments.studies.lines import Entry
from agattn.geometry.closedness.limits import LimitSet
from agattn.geometry.dimension.formulas import reduced_widths
from agattn.geometry.singular_points.singularities import PointFacts, Singularities
from agattn.geometry.singular_points.virtual_points import VirtualPoint, ranks_at
from agattn.reports.document import environment


def audit_page(table: Audit) -> str:
    """The table of an audit, with the command that wrote it."""
    command = f"agattn audit --max-d {table.max_d} --max-out {table.max_out}"
    if table.claims != tuple(CLAIMS):
        command += "".join(f" --claim {claim}" for claim in table.claims)
    patterns: dict[str, list[str]] = {}
    for claim in table.claims:
        patterns.setdefault(_pattern(table, claim), []).append(claim)
    applying = [claim for row in table.rows for claim in row.claims.values() if claim["hypotheses_hold"]]
    weaker: dict[tuple[str, str], list[str]] = {}
    for found in applying:
        if found["evidence"] != "proved":
            known = (found["evidence"] or "undecided", found.get("scope") or "")
            weaker.setdefault(known, []).append(found["id"])
    named = ((row, row.architecture) for row in table.rows)
    rows = [(f"({layer.d},{layer.d_out},{layer.a})", words(row), cells(row)) for row, layer in named]
    return _rendered(
        "audit.md.j2",
        table=table,
        command=command,
        names=lambda ids: [CLAIMS[claim].name for claim in ids],
        patterns=dict(sorted(patterns.items(), key=lambda pair: not pair[0].startswith("fails"))),
        rows=rows,
        applying=applying,
        weaker=weaker,
        failing=_alike(
            (claim, tuple(shown[claim] for _, _, shown in rows))
            for claim in table.claims
            if any(found[claim] == "fails" for _, found, _ in rows)
        ),
        marks={"holds": "✓", "fails": "✗", "inapplicable": "–", "undecided": "?"},
    )


def _pattern(table: Audit, claim: str) -> str:
    """Where a claim fails, is undecided or does not apply, in words."""
    parts = []
    for word in ("fails", "undecided", "inapplicable"):
        found = table.pattern(claim, word)
        if found is None:
            continue
        where = f"{found.where} of {found.rows} layers{' to which it applies' * (word == 'fails')}"
        if found.condition is None:
            parts.append(f"{word} for {where}, by no short pattern")
        else:
            parts.append(f"{word} exactly if {found.condition} ({where})")
    if not any(part.startswith(("fails", "undecided")) for part in parts):
        parts.insert(0, "holds wherever it applies")
    return "; ".join(parts)


def atlas_page(surveys: Sequence[Survey], command: str, limit: int | None, seed: int) -> str:
    """The page of the atlas: what it shows in all, then each family."""
    entries = [e for s in surveys for e in s.entries]
    plain = [e for s in surveys if s.is_plain for e in s.entries]
    skip = [e for e in entries if e.architecture.skip]
    heads = [e for e in entries if not e.architecture.skip and e.architecture.heads_by_layer[0] > 1]
    applicable = [e for s in surveys for e in s.paper_applies]
    reasons = [s.reasons().get("none", (0, 0)) for s in surveys if s.is_plain]
    no_reason, no_reason_failing = (sum(pair[side] for pair in reasons) for side in (0, 1))
    missed = [e for e in heads if not _met(e)]
    met = {"plain": sum(map(_met, plain)), "skip": sum(map(_met, skip)), "heads": sum(map(_met, heads))}
    met["paper"] = sum(not e.result["paper"]["defect"] for e in applicable)
    met["no_reason"] = no_reason - no_reason_failing
    return _rendered(
        "atlas.md.j2",
        command=command,
        limit=limit,
        seed=seed,
        surveys=surveys,
        met=met,
        smallest=smallest,
        applicable=len(applicable),
        plain=plain,
        skip=skip,
        heads=heads,
        no_reason=no_reason,
        missed=missed,
        rest=[e for e in missed if not _widens(e)],
        proved=sum(e.result["lower_bound"] == e.result["upper_bound"] for e in plain),
    )


def points_page(groups: Sequence[PointsGroup], command: str) -> str:
    """The atlas of critical and singular points: what it shows in all, then each group of networks."""
    points = [point for group in groups for point in group.points]
    judged = [(point, _virtual(point)) for point in groups[0].points]
    theorem = [
        (point, at, said) for point, at in judged if at is not None and (said := at.statement()) is not None
    ]
    others = [
        (at, said, point.kind.architecture.t)
        for point, at, said in theorem
        if point.is_critical != said.critical
    ]
    return _rendered(
        "points.md.j2",
        command=command,
        groups=groups,
        networks=sum(len(group.found) for group in groups),
        points=points,
        counts=Counter(point.singular for point in points),
        proved=sum(p.singular == "singular" and p.evidence is Evidence.PROVED for p in points),
        applies=len(theorem),
        skew=[point for point, at in judged if at is None or at.statement() is None],
        met=len(theorem) - len(others),
        met_by_virtual=sum(ranks_at(at, t).is_critical == said.critical for at, said, t in others),
        named=_named,
        rank_one=_rank_one,
        undecided=_undecided,
    )


def _rank_one(group: PointsGroup) -> list[list[object]]:
    """Of networks with limits: their dimension, then ranks and tangent vectors at heads of rank one."""
    rows: list[list[object]] = []
    for found in group.found:
        if isinstance(found.limits, LimitSet):
            l = found.limits.network.depth  # the paper's l
            rows.append([found.network, found.dimension.dimension, found.limits.dimension])
            for names in ([f"rk M_{i} = 1" for i in range(1, l)], [f"rk M_{l} = rk L = 1"]):
                points = [point for name in names for point in found.kinds if point.name == name]
                rows[-1].append(", ".join(str(point.differential_rank) for point in points) or "–")
                rows[-1].append(", ".join(str(point.tangent_lower) for point in points) or "–")
    return rows


def _undecided(group: PointsGroup) -> list[tuple[list[str], tuple[str, ...]]]:
    """Networks with the same undecided kinds, and these kinds."""
    said = ((str(found.network), tuple(_named(found, "undecided"))) for found in group.found)
    return [(networks, kinds) for networks, kinds in _alike(said) if kinds]


def _virtual(point: PointFacts) -> VirtualPoint | None:
    """The virtual weights of a point, where there are such."""
    if (given := point.kind.virtual) is None:
        return None
    M, L = given
    return VirtualPoint(point.name, tuple(M), L)


def _named(found: Singularities, words: str) -> list[str]:
    """The names of the kinds with f ≠ 0 of which this was found."""
    points = (point for point in found.kinds if not point.is_zero)
    if words == "critical":
        return [point.name for point in points if point.is_critical]
    return [point.name for point in points if point.singular == words]


def _alike(said: Iterable[tuple[str, tuple[str, ...]]]) -> list[tuple[list[str], tuple[str, ...]]]:
    """The names of which the same was said, together with it, in the order of the first names."""
    together: dict[tuple[str, ...], list[str]] = {}
    for name, what in said:
        together.setdefault(what, []).append(name)
    return [(names, what) for what, names in together.items()]


def _met(entry: Entry) -> bool:
    return bool(entry.result["dimension"] == entry.result["predicted"])


def _widens(entry: Entry) -> bool:
    return any(after > before for before, after in pairwise(reduced_widths(entry.architecture)[:-1]))


def _rendered(name: str, **values: Any) -> str:
    """A template of this package, filled in."""
    return environment().get_template(name).render(values).rstrip() + "\n"
