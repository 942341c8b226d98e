"""The catalogue of scripts is what agattn emits today: none differs, none is missing, none is left over."""

import runpy
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "macaulay_scripts"


def test_the_catalogue_is_what_is_emitted():
    catalogue = dict(runpy.run_path(str(FOLDER / "write.py"))["catalogue"]())
    assert len(catalogue) > 100 and {path.parts[0] for path in catalogue} == {"macaulay2", "singular"}
    files = {path.relative_to(FOLDER) for path in FOLDER.rglob("*") if path.is_file()}
    files -= {path for path in files if path.parent.name == "__pycache__"}
    beside = {path for path in files if len(path.parts) == 1}
    assert beside <= {Path("write.py"), Path("README.md")}
    assert files - beside == set(catalogue)
    different = [str(path) for path, text in catalogue.items() if (FOLDER / path).read_text() != text]
    assert different == [], "run: python macaulay_scripts/write.py"
