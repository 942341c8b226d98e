"""``agattn doctor``: which engines there are, and whether they work."""

from __future__ import annotations

import platform

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress


@click.command(epilog="Example: agattn doctor")
@options.json_flag
def command(as_json: bool) -> int:
    """Find Macaulay2 and Singular by AGATTN_M2 and AGATTN_SINGULAR, on PATH and in the wheels; run each."""
    import flint

    from agattn.engines.engine import ENGINES
    from agattn.engines.locate import locate
    from agattn.errors import EngineNotFoundError

    engines: list[dict[str, object]] = []
    with progress("asking the engines"):
        for engine in ENGINES.values():
            entry: dict[str, object] = {"name": engine.name, "version": None, "path": None, "ok": False}
            try:
                installation = locate(engine)
            except EngineNotFoundError as error:
                engines.append({**entry, "problem": str(error)})
                continue
            problem = installation.problem()
            entry |= {"version": installation.version, "path": str(installation.path), "ok": problem is None}
            engines.append({**entry, "problem": problem, "found": installation.found})
    if as_json:
        print_json(
            {"engines": engines, "python": platform.python_version(), "flint": flint.__FLINT_VERSION__}
        )
    else:
        click.echo(f"Python {platform.python_version()}, FLINT {flint.__FLINT_VERSION__}")
        for entry in engines:
            if entry["ok"]:
                click.echo(
                    f"{entry['name']} {entry['version']}: works ({entry['path']}, by {entry['found']})"
                )
            else:
                click.echo(f"{entry['name']}: {entry['problem']}")
    return 0 if all(entry["ok"] for entry in engines) else 3
