"""Run every line of benchmarks/README.md, and write below each what it printed.

    python benchmarks/all.py [--other PYTHON] [--only TEXT]

A line of the page that begins with ``$ python benchmarks/`` is run in the clone, and the rest of its block is
what it prints. ``OTHER`` in a line stands for the Python of an earlier version (``--other``); without it such
blocks stay as they are. All lines together take ten minutes on two idle processors.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "README.md"
BLOCK = re.compile(r"^```console\n\$ python (benchmarks/[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def output(line: str, other: str | None) -> str:
    """What a line of the page prints.

    Raises:
        SystemExit: if it fails; with what it said.
    """
    words = [word.replace("OTHER", other or "OTHER") for word in line.split()]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"python {line} ended with {done.returncode}:\n{done.stderr}")
    return "\n".join(text.rstrip() for text in done.stdout.rstrip().splitlines())


def main() -> None:
    """Run the lines one after the other; the page is written after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", help="the Python that has the other version")
    parser.add_argument("--only", default="", help="the lines that contain this text")
    options = parser.parse_args()
    lines = [found[1] for found in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    lines = [line for line in lines if options.only in line and (options.other or "OTHER" not in line)]
    for number, line in enumerate(lines, 1):
        start = time.monotonic()
        printed = output(line, options.other)
        block = f"```console\n$ python {line}\n{printed}\n```"
        page = PAGE.read_text(encoding="utf-8")
        shown = BLOCK.sub(lambda found, line=line, block=block: block if found[1] == line else found[0], page)
        PAGE.write_text(shown, encoding="utf-8")
        print(f"{number} of {len(lines)}, {time.monotonic() - start:.0f} s: {line}", flush=True)


if __name__ == "__main__":
    main()
