"""Singular."""

from __future__ import annotations

from operator import methodcaller

from agattn.engines.engine import IN_A_LANGUAGE, LOADER, TEMPLATES, Engine, read_block

SINGULAR = Engine(
    name="singular",
    title="Singular",
    executable="Singular",
    variable="AGATTN_SINGULAR",
    version=("--version",),
    suffix="sing",
    comment="//",
    arguments=("-q", "--no-rc"),
    one_line='"agattn-ok"; quit;\n',
    out_of_memory=("no more memory", "out of memory", "memory exhausted", "bad_alloc", *LOADER),
    error_marks=("   ? ",),
    written=methodcaller("singular"),
    read=read_block,
    templates=TEMPLATES / "singular",
    tasks=(
        *IN_A_LANGUAGE,
    ),
    answers="everything",
)  # fmt: skip
