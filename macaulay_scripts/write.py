"""Write the catalogue of scripts in this folder: ``python macaulay_scripts/write.py``.

A test emits every script again and fails on any difference, so the catalogue is never edited by hand.
"""

from collections.abc import Iterator
from pathlib import Path

from agattn import SingleLayer
from agattn.engines.emit import emit
from agattn.engines.engine import ENGINES
from agattn.systems.catalogue import TASKS, build

FOLDER = Path(__file__).parent
LAYERS = [(2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1), (3, 1, 3)]


def catalogue() -> Iterator[tuple[Path, str]]:
    """Every script's path, relative to this folder, and text."""
    for engine in ENGINES.values():
        for d, d_out, a in LAYERS:
            for task in (n for n, t in TASKS.items() if t.about is SingleLayer and "target" not in t.takes):
                path = Path(engine.name, f"d{d}-o{d_out}-a{a}", f"{task}.{engine.suffix}")
                yield path, emit(build(task, SingleLayer(d, d_out, a)), engine)


if __name__ == "__main__":
    for path, script in catalogue():
        target = FOLDER / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(script, encoding="utf-8")
