"""``agattn doctor``: which engines there are, and whether they work."""

from __future__ import annotations

import platform

import click

from agattn.cli import options
from agattn.cli.output import print_json, progress


@click.command(epilog="Example: agattn doctor")
@options.json_flag
def command(as_json: bool) -> int:
    """Find Macaulay2, Singular and msolve, and try each.

    They are looked for by AGATTN_M2, AGATTN_SINGULAR and AGATTN_MSOLVE, on PATH and in the wheels.
    """
    import flint

    from agattn.engines.engine import ENGINES, Engine
    from agattn.engines.locate import locate
    from agattn.errors import EngineNotFoundError

    def asked(engine: Engine) -> dict[str, object]:
        try:
            there = locate(engine)
        except EngineNotFoundError as error:
            return {"name": engine.name, "version": None, "path": None, "ok": False, "problem": str(error)}
        problem = there.problem()
        return {
            "name": engine.name, "version": there.version, "path": str(there.path), "ok": problem is None,
            "problem": problem, "found": there.found,
        }  # fmt: skip

    with progress("asking the engines"):
        engines = [asked(engine) for engine in ENGINES.values()]
    python, version = platform.python_version(), flint.__FLINT_VERSION__
    if as_json:
        print_json({"engines": engines, "python": python, "flint": version})
    else:
        click.echo(f"Python {python}, FLINT {version}")
        for entry in engines:
            works = f" {entry['version']}: works ({entry['path']}, by {entry.get('found')})"
            click.echo(f"{entry['name']}{works if entry['ok'] else ': ' + str(entry['problem'])}")
    return 0 if all(entry["ok"] for entry in engines) else 3
