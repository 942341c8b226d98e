"""msolve, which has no language: its scripts are for the shell, and it prints lists."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from agattn.engines.engine import LOADER, TEMPLATES, Engine

if TYPE_CHECKING:
    from agattn.systems.problem import Answer, Problem


def _read_lists(text: str, problem: Problem) -> Answer:
    from agattn.engines.msolve_lists import read  # imported by the first transcript

    return read(text, problem)


MSOLVE = Engine(
    name="msolve",
    title="msolve",
    executable="msolve",
    variable="AGATTN_MSOLVE",
    version=("--version",),
    suffix="sh",
    comment="#",
    arguments=(),
    by_shell=True,
    one_line="printf 'x\\n0\\nx-1\\n' > one.ms\n\"$1\" -f one.ms | grep -qF '[[[1, 1]]]' && echo agattn-ok\n",
    # msolve does not look whether it got memory, and dies; the shell then says one of these.
    out_of_memory=("segmentation fault", "aborted", *LOADER),
    error_marks=(),
    written=attrgetter("name"),
    read=_read_lists,
    templates=TEMPLATES / "msolve",
    tasks=(
        "critical-equations", "critical-points", "fiber", "hilbert-function", "implicit-ideal", "membership",
        "model-fiber", "model-hilbert-function", "model-implicit-ideal",
    ),
    answers="questions about Groebner bases and systems with finitely many solutions",
    lacks=("prime", "max-degree", "components"),
    proves=False,  # msolve computes modulo primes and lifts
)  # fmt: skip
