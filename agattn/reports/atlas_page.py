"""The atlas of small networks as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.dimension.formulas import reduced_widths
from agattn.studies.atlas import Survey, smallest

_SHOWN = 12

_INTRODUCTION = """\
# Atlas of small networks

Written by `{command}`; regenerate it with that command.

Every dimension below is the rank of a Jacobian modulo a prime, which proves a lower bound, against a
proved upper bound; it is *proved* where the two meet. "Formula" is the general formula of
[the page on dimension](dimension.md), with the bounds for several heads; "eq. 14" is the paper's equation,
whether or not its hypotheses hold (for one layer, equation 7). Ranks above the width in front of them change
nothing and are left out. A family larger than {limit} networks is represented by that many, drawn with
seed {seed}.
"""

_PATTERN = """\
## What the atlas shows

- **Inside its hypotheses equation 14 was met by every network** ({inside} of {applicable}).
- **One head, no skip connections**: the general formula was met by {one_head_met} of {one_head} networks,
  each of them {one_head_proof}. Equation 14 failed only for two reasons, alone or together: some width is
  more than the network can use, or only the symmetric part of some A matters (one token, or an earlier
  layer of rank 1). Where neither holds it was met by this many networks: {no_reason_met} of {no_reason}.
- **Skip connections**: the sum of the layers' own dimensions was met by {skip_met} of {skip} networks.
- **Several heads**: the bounds were met by {heads_met} of {heads} networks. {heads_exceptions}
"""


def family_section(survey: Survey) -> str:
    """The section of one family: counts, reasons, and the smallest exceptions."""
    entries = survey.entries
    total = f" (of {survey.family.total})" if survey.family.total > len(entries) else ""
    met = len(entries) - len(survey.formula_missed)
    lines = [
        f"### {survey.family.title}",
        "",
        f"{len(entries)} networks{total}: {survey.proved} proved; formula met by {met}; "
        f"eq. 14 met by {len(entries) - len(survey.paper_missed)}, "
        f"its hypotheses hold for {len(survey.paper_applies)}.",
        "",
    ]
    if _is_plain(survey):
        lines += ["| reason to fail eq. 14 | networks | of these fail |", "| --- | ---: | ---: |"]
        lines += [f"| {reason} | {n} | {failing} |" for reason, (n, failing) in survey.reasons().items()]
        lines.append("")
        lines += _table("Smallest networks that fail equation 14", survey.paper_missed, paper=True)
    lines += _table(
        "Networks whose observed dimension is below the bound", survey.formula_missed, paper=False
    )
    return "\n".join(lines)


def atlas_page(surveys: Sequence[Survey], command: str, limit: int | None, seed: int) -> str:
    """The whole page."""
    sections = [
        _INTRODUCTION.format(command=command, limit=limit or "any number of", seed=seed),
        pattern(surveys),
        "## The families\n",
        *(family_section(survey) for survey in surveys),
    ]
    return "\n".join(sections).rstrip() + "\n"


def pattern(surveys: Sequence[Survey]) -> str:
    """The summary over all families."""
    plain = [e for s in surveys if _is_plain(s) for e in s.entries]
    skip = [e for s in surveys for e in s.entries if e.network.skip]
    heads = [e for s in surveys for e in s.entries if not e.network.skip and e.network.heads_by_layer[0] > 1]
    applicable = [e for s in surveys for e in s.paper_applies]
    counted = [s.reasons().get("none", (0, 0)) for s in surveys if _is_plain(s)]
    no_reason = sum(n for n, _ in counted)
    missed = [e for e in heads if e.dimension != e.predicted]
    wider = [e for e in missed if _widens(e)]
    exceptions = ""
    if missed:
        exceptions = (
            f"Of the {len(missed)} others, {len(wider)} have an inner layer that widens"
            " (e_i > e_(i-1)); why the count is not attained there is open."
        )
        rest = [str(e.network) for e in smallest([e for e in missed if not _widens(e)], 4)]
        if rest:
            exceptions += f" The smallest of the rest: {'; '.join(rest)}."
    proved = sum(e.lower_bound == e.upper_bound for e in plain)
    return _PATTERN.format(
        inside=sum(not e.defect for e in applicable),
        applicable=len(applicable),
        one_head_met=_met(plain),
        one_head=len(plain),
        one_head_proof="with a proof" if proved == len(plain) else f"in {proved} cases with a proof",
        no_reason_met=no_reason - sum(failing for _, failing in counted),
        no_reason=no_reason,
        skip_met=_met(skip),
        skip=len(skip),
        heads_met=_met(heads),
        heads=len(heads),
        heads_exceptions=exceptions,
    )


def _is_plain(survey: Survey) -> bool:
    first = survey.family.networks[0]
    return set(first.heads_by_layer) == {1} and not first.skip


def _met(entries: Sequence[Dimension]) -> int:
    return sum(e.dimension == e.predicted for e in entries)


def _widens(entry: Dimension) -> bool:
    widths = reduced_widths(entry.network)
    return any(after > before for before, after in pairwise(widths[:-1]))


def _table(title: str, entries: Sequence[Dimension], paper: bool) -> list[str]:
    if not entries:
        return []
    shown = smallest(entries, _SHOWN)
    more = f" ({len(shown)} of {len(entries)})" if len(entries) > len(shown) else ""
    other = "eq. 14" if paper else "bound"
    lines = [
        f"{title}{more}:",
        "",
        f"| network | dimension | evidence | {other} |",
        "| --- | ---: | --- | ---: |",
    ]
    lines += [
        f"| {e.network} | {e.dimension} | {e.evidence} | {e.paper if paper else e.upper_bound} |"
        for e in shown
    ]
    return [*lines, ""]
