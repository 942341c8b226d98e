"""The report of training: the sheet of the runs, and the figure."""

import pytest

from agattn.reports.document import Folded, Picture, markdown
from agattn.reports.training_report import draw_runs, drawn_runs, training_report
from agattn.sheet.data import Table


def run(experiment, outcome="converged", **known):
    """A run as ``agattn train`` prints it, to a stratum that is not singular."""
    times = [0.0, 1e-2, 1.0, 1e2]
    history = {"time": times, "loss": [1.0, 0.5, 0.1, 0.0], "norm": [1.0] * 4}
    history["second_singular_value"] = [[0.5, 0.1, 0.1, 1e-20]]
    line = {"experiment": experiment, "outcome": outcome, "loss": 1e-25, "drift": 1e-11, "history": history}
    return line | {"stratum": [2, 2, 3], "singular": False, "ranks": [[[2, 2]]]} | known


LINES = [run("plain") for _ in range(18)] + [run("plain", stratum=[2, 1, 2], singular=True)] * 2
LINES += [run("costs $5 \\frac$ and has a long name", "unfinished", drift=3.2e-9) for _ in range(3)]
LINES += [run("deep", stratum=None, ranks=[[[1, 2], [2, 2]], [[1, 1]]])]
LINES += [run("start", "untrained", drift=0.0)]


def test_the_sheet_says_where_runs_end_which_ranks_and_what_is_conserved():
    document = training_report(LINES, "[experiment]", "agattn train c.toml -O DIR")
    [table] = [block for block in document.blocks() if isinstance(block, Table)]
    assert table.rows == (
        ("plain", 20, "20 converged", "18 at (2,2,3), 2 at (2,1,2)*", "1e-25", "1e-11"),
        ("costs $5 \\frac$ and has a long name", 3, "3 unfinished", "–", "–", "4e-9"),
        ("deep", 1, "1 converged", "1 at rk A = 1,2|1", "1e-25", "1e-11"),
        ("start", 1, "1 untrained", "–", "–", "0"),
    )
    assert not any(isinstance(block, Folded) for block in document.blocks())
    assert "25 runs of 4 experiments" in markdown(document) and "(experiments.toml)" in markdown(document)


def test_the_figure_names_its_colours_and_leaves_no_panel_empty():
    pytest.importorskip("matplotlib")
    document = training_report(LINES, "[experiment]", "agattn train")
    [picture] = [block for block in document.blocks() if isinstance(block, Picture)]
    assert "Blue: converged, orange: unfinished." in picture.caption and b"#c05621" in picture.data
    groups = drawn_runs(LINES)
    assert [len(runs) for runs in groups.values()] == [12, 3, 1]
    model = run("model")
    del model["history"]["second_singular_value"]
    figure = draw_runs(groups | {"model": [model]})
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles == [*("plain", "σ₂/σ₁", "costs $5 \\frac$ and has a…", "σ₂/σ₁", "deep", "σ₂/σ₁", "model")]
    assert all(panel.lines for panel in figure.axes)
    scale = 334 / (96 * figure.get_figwidth())  # 400 pixels without margins
    texts = [text for panel in figure.axes for text in (*panel.get_xticklabels(), panel.xaxis.label)]
    assert all(text.get_fontsize() * 96 / 72 * scale > 8 for text in texts)
