"""Macaulay2."""

from __future__ import annotations

from operator import methodcaller

from agattn.engines.engine import IN_A_LANGUAGE, LOADER, TEMPLATES, Engine, read_block

MACAULAY2 = Engine(
    name="macaulay2",
    title="Macaulay2",
    executable="M2",
    variable="AGATTN_M2",
    version=("--version",),
    suffix="m2",
    comment="--",
    arguments=("--script",),
    # As by --script, but without a dozen packages: our scripts load the packages that they need, and start in
    # half the time.
    own_arguments=("-q", "--silent", "--stop", "--no-debug", "--no-prompts", "--no-preload"),
    one_line='print "agattn-ok"\n',
    out_of_memory=("out of memory", "memory exhausted", "bad_alloc", *LOADER),
    error_marks=(),
    written=methodcaller("macaulay2"),
    read=read_block,
    templates=TEMPLATES / "macaulay2",
    tasks=(
        *IN_A_LANGUAGE,
    ),
    answers="everything",
)  # fmt: skip
