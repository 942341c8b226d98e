"""The report of training: the sheet of the runs, and the figure."""

from agattn.reports.document import Folded, markdown
from agattn.reports.training_report import training_report
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
