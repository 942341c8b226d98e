"""The notebook of the examples shows what it computes, and the door of the README to Macaulay2 opens."""

import ast
import json
import re
import subprocess

import pytest
from command_line import ROOT

NOTEBOOK = ROOT / "examples" / "first-hour.ipynb"


def run_cells(document):
    """The outputs of the code cells, each ``None`` or its text and HTML, as a notebook would show them."""
    space, shown = {}, []
    for cell in document["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), NOTEBOOK.name, "exec"), space)
        value = (
            None if last is None else eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), space)
        )
        html = getattr(value, "_repr_html_", str)()
        shown.append(None if value is None else {"text/plain": repr(value), "text/html": html})
    return shown


def test_the_notebook_shows_what_it_computes():
    document = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    stored = [
        {kind: "".join(text) for kind, text in cell["outputs"][0]["data"].items()}
        if cell["outputs"]
        else None
        for cell in document["cells"]
        if cell["cell_type"] == "code"
    ]
    computed = run_cells(document)
    assert [c and c["text/plain"] for c in computed] == [s and s["text/plain"] for s in stored]
    assert computed == stored
    lines = [
        x for cell in document["cells"] if cell["cell_type"] == "code" for x in cell["source"] if x.strip()
    ]
    assert len(lines) <= 10
    assert "refuted" in str(stored)
    assert "dim T_p = 14 > dim M̄ = 13" in str(stored)


@pytest.mark.engine
def test_the_macaulay2_door_opens(macaulay2, tmp_path):
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
