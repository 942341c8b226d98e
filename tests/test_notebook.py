"""The notebooks of the examples show what they compute, and the door of the README to Macaulay2 opens."""

import ast
import json
import re
import subprocess

import pytest
from command_line import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
#: Numbers of floating-point computations, whose last digits differ between machines.
FLOATS = re.compile(r"\d+\.\d+(?:e[+-]\d+)?|\de-\d+")


def code_cells(document):
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def run_cells(document):
    """The outputs of the code cells, each ``None`` or its text and HTML, as a notebook would show them."""
    space, shown = {}, []
    for cell in code_cells(document):
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "notebook", "exec"), space)
        if last is None:
            shown.append(None)
            continue
        value = eval(compile(ast.Expression(last.value), "notebook", "eval"), space)
        html = {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {}
        shown.append({"text/plain": repr(value), **html})
    return shown


def stored(document):
    """The outputs that a notebook holds, in the form of ``run_cells``."""
    data = [cell["outputs"] and cell["outputs"][0]["data"] for cell in code_cells(document)]
    return [{kind: "".join(text) for kind, text in one.items()} if one else None for one in data]


def write(path):
    """Run a notebook, and keep its outputs in its file: ``python tests/test_notebook.py``."""
    document = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, shown) in enumerate(zip(code_cells(document), run_cells(document), strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, []
        if shown is not None:
            data = {kind: text.splitlines(keepends=True) for kind, text in shown.items()}
            output = {"data": data, "execution_count": number, "metadata": {}}
            cell["outputs"] = [output | {"output_type": "execute_result"}]
    path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_computes(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert 10 <= len(document["cells"]) <= 15
    kept, computed = stored(document), run_cells(document)
    assert len([one for one in kept if one]) >= 6
    if path.stem == "training":  # numerical
        kept, computed = (FLOATS.sub("·", json.dumps(outputs)) for outputs in (kept, computed))
    assert computed == kept


@pytest.mark.engine
def test_the_macaulay2_door_opens(macaulay2):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"^```m2\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert len(lines.splitlines()) == 4
    # As at the prompt: each value is printed.
    done = subprocess.run(
        [str(macaulay2.path), "--stop", "--no-readline", "-q", "--silent"], input=lines, cwd=ROOT,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(5, 4)" in done.stdout
    assert "error" not in done.stderr


if __name__ == "__main__":
    for path in NOTEBOOKS:
        write(path)
