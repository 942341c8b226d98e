"""What a report of training says of known runs: the sentences, the intervals, the figures."""

import importlib
import re

import pytest
from command_line import ROOT

from agattn.experiments.training.experiment import read_experiments
from agattn.reports.document import Folded, Picture, Text, markdown
from agattn.reports.training_figures import Interval, Row, draw_losses, draw_rows
from agattn.reports.training_findings import findings, shares
from agattn.reports.training_report import training_report

CONFIG = """
[[experiment]]
name = "plain"
layer = {d = 3, d_out = 2, a = 2}

[[experiment]]
name = "far"
layer = {d = 3, d_out = 2, a = 2}
teacher = {kind = "outside"}

[[experiment]]
name = "start"
layer = {d = 3, d_out = 2, a = 2}
method = "untrained"
"""


def run(experiment, seed, **known):
    """A run as ``agattn train`` prints it, which converged to the open stratum with loss 0."""
    times = [0.0, 1e-2, 1.0, 1e2, 1e4, 1e6, 1e7]
    history = {
        "time": times, "loss": [1.0 / (1 + t) for t in times], "norm": [1.0] * 7,
        "second_singular_value": [[0.5, *[0.1] * 6]],
    }  # fmt: skip
    return {
        "experiment": experiment, "seed": seed, "outcome": "converged", "loss": 1e-25, "drift": 1e-11,
        "time": 1e6, "ranks": [[[2, 2]]], "stratum": [2, 2, 3], "singular": False, "fiber_dimension": 5,
        "nearest": {"(2,1,2)": [0.2, 1.0], "(2,1,3)": [0.1, 2.0]}, "hessian_zeros": 5,
        "hessian_negative": 0, "history": history,
    } | known  # fmt: skip


@pytest.fixture(scope="module")
def lines():
    """Twenty plain runs: four stop, two end at a singular stratum, five pass one; ten far; five untrained."""
    known = [run("plain", seed, drift=1e-12 * (seed + 1)) for seed in range(20)]
    for n, seed in enumerate((3, 5, 8, 13)):
        known[seed] |= {"loss": 1e-3 * (n + 1), "hessian_negative": int(n == 0)}
    for seed in (0, 1):
        known[seed] |= {"stratum": [2, 1, 2], "singular": True, "hessian_zeros": 6}
    for seed in range(5):
        known[seed] |= {"nearest": {"(2,1,2)": [0.2, 1.0], "(2,1,3)": [0.01 * (seed + 1), 2.0]}}
    known += [run("far", seed, loss=0.25, outcome="unfinished", hessian_zeros=None) for seed in range(10)]
    rest = {"time": [0.0], "loss": [1.0], "norm": [1.0], "second_singular_value": [[0.5]]}
    return known + [run("start", s, outcome="untrained", loss=1.0, history=rest) for s in range(5)]


@pytest.fixture(scope="module")
def found(lines):
    return {one.title: one for one in findings(lines, read_experiments(CONFIG))}


#: The number of successes, of runs, and the sentence's name for them.
SHARES = {
    "Is the teacher learned?": {"plain": (16, 20), "far": (0, 10)},
    "Do runs stop at a positive loss?": {"plain": (4, 20)},
    "Do runs end at singular points?": {"plain": (2, 20), "far": (0, 10)},
    "Do runs pass near singular points?": {"plain, (2,1,3)": (5, 20), "far, (2,1,2)": (0, 10)},
    "Is the loss flat along the fiber alone?": {"plain": (14, 16)},
}


@pytest.mark.parametrize("title", SHARES)
def test_sentences_count_and_their_intervals_are_those_of_scipy(title, found):
    stats = pytest.importorskip("scipy.stats")
    told = re.findall(r"“([^”]+)” (\d+) of (\d+) \((\d+) %, ([\d.]+) to ([\d.]+) %\)", found[title].said)
    assert {name: (int(k), int(n)) for name, k, n, *_ in told} == SHARES[title]
    for _, k, n, share, low, high in told:
        interval = stats.binomtest(int(k), int(n)).proportion_ci(method="wilson")
        assert float(share) == round(100 * int(k) / int(n))
        assert float(low) == pytest.approx(100 * interval.low, abs=0.5)
        assert float(high) == pytest.approx(100 * interval.high, abs=0.5)


def test_what_is_unexpected_is_said_and_sizes_are_medians_with_ranges(found):
    said = {title: one.said for title, one in found.items()}
    assert said["Do runs stop at a positive loss?"].startswith("Unexpected: some runs do: “plain” 4 of 20")
    assert "Of the 4 points 3 have none." in found["Do runs stop at a positive loss?"].terms
    assert (
        "In all 2 experiments the largest share of the runs ends at the stratum (2,2,3)."
        in (said["Do runs end at singular points?"])
    )
    learned = said["Is the teacher learned?"]
    assert "20 of 30 runs converged" in learned
    assert (
        "1.0e-25 for those that learned, and 2.5e-01 (1.0e-03 to 2.5e-01) for those that did not" in learned
    )
    assert said["Is the flow followed exactly?"].startswith(
        "The drift is 1.0e-11 (1.0e-12 to 2.0e-11) in 30 runs of gradient flow, and largest in “plain”"
    )
    assert said["Do heads become of rank one?"].startswith(
        "No difference between start and end is seen in any of 2 layers."
    )
    assert "10 runs of 1 experiment had no limit" in said["How do runs without a limit go on?"]


def test_heads_that_change_are_named(lines):
    changed = [
        line | {"history": line["history"] | {"second_singular_value": [[0.5, *[0.001] * 6]]}}
        if line["experiment"] == "plain"
        else line
        for line in lines
    ]
    said = {one.title: one.said for one in findings(changed, read_experiments(CONFIG))}
    assert said["Do heads become of rank one?"] == (
        "No difference between start and end is seen in 1 of 2 layers. More in “plain”: 0 of 20 (0 %, 0 to "
        "16 %) at the start, 20 of 20 (100 %, 84 to 100 %) in the end."
    )


def test_the_findings_come_first_and_each_has_one_figure_and_its_table_folded(lines, found):
    pytest.importorskip("matplotlib")
    document = training_report(lines, CONFIG, "agattn train c.toml --report DIR")
    first, *others = document.sections
    leads = [block.lead for block in first.blocks if isinstance(block, Text)]
    assert first.title == "What came out" and leads == list(found) == [
        one.title for one in others[: len(found)]
    ]
    for section in others[: len(found)]:
        picture, *tables = section.blocks
        assert isinstance(picture, Picture) and all(isinstance(table, Folded) for table in tables)
        assert len(tables) == (found[section.title].table is not None)
        assert {"Blue", "blue"} & set(re.findall(r"\w+", picture.caption))
        assert ("orange" in picture.caption.lower()) == (b"#c05621" in picture.data)
    assert (
        markdown(document).count("| experiment |")
        == sum(isinstance(b, Folded) for b in document.blocks()) - 1
    )


def test_curves_leave_no_panel_empty_and_captions_name_their_colours(lines):
    pytest.importorskip("matplotlib")
    figure = draw_losses(lines)
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["plain", "far"]
    assert all(panel.lines for panel in figure.axes)
    document = training_report(lines, CONFIG, "agattn train")
    [losses] = [block for block in document.blocks() if getattr(block, "name", "") == "losses.svg"]
    assert "Blue: converged, orange: unfinished. Not drawn, as nothing was trained: 1 of 3" in losses.caption


def test_letters_can_be_read_where_a_figure_is_400_pixels_wide():
    pytest.importorskip("matplotlib")
    rows = [
        Row("a name that is long enough to need most of the width", (Interval(50, 20, 70), Interval(1, 0, 3)))
    ]
    figure = draw_rows(rows * 3, "learned, %", legend={"start": "#c05621", "end": "#2b6cb0"})
    scale = 334 / (96 * figure.get_figwidth())  # 400 pixels without margins
    texts = [
        text for axes in figure.axes for text in (*axes.texts, *axes.get_xticklabels(), axes.xaxis.label)
    ]
    assert len(texts) > 6 and all(text.get_fontsize() * 96 / 72 * scale > 9 for text in texts)


def test_many_experiments_are_summed_up():
    from agattn.experiments.training.analysis import Frequency

    found = {f"e{n}": Frequency(n, 30) for n in range(1, 9)} | {f"z{n}": Frequency(0, 60) for n in range(3)}
    assert shares(found) == (
        "most in “e8” 8 of 30 (27 %, 14 to 44 %); least of those with any in “e1” 1 of 30 (3 %, "
        "0.6 to 17 %); none in 3 others: at most 6 % there"
    )


def test_the_findings_have_the_intervals_of_scipy_and_those_of_the_tables():
    stats = pytest.importorskip("scipy.stats")
    folder = ROOT / "docs" / "experiments"
    page = (folder / "training-runs.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ .*", page, re.MULTILINE)
    assert len({*headings}) == len(headings) and headings[1] == "## What came out"
    _, _, numbers = page.partition("<details")
    findings_ = (folder / "training.md").read_text(encoding="utf-8")
    findings_ = findings_[findings_.index("## What came out") : findings_.index("<details")]
    assert len(findings_.split()) < 1200
    told = re.findall(r"(\d+) of (\d+) (?:runs )?\(([\d.]+) %, ([\d.]+) to ([\d.]+) %\)", findings_)
    assert len(told) >= 10
    for k, n, share, low, high in told:
        interval = stats.binomtest(int(k), int(n)).proportion_ci(method="wilson")
        assert float(share) == pytest.approx(100 * int(k) / int(n), abs=0.5)
        assert [float(low), float(high)] == pytest.approx([100 * x for x in interval], abs=0.5)
        assert f"{k} of {n} ({share} %, {low} to {high} %)" in numbers  # the table has the same
    folded = re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)
    assert "| --- |" not in folded and numbers.count("| --- |") >= 6


def test_a_report_becomes_the_page_with_its_figures_beside_it(lines, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    write = importlib.import_module("training_page").write
    training_report(lines, CONFIG, "agattn train c.toml --report DIR").save(tmp_path / "report")
    (tmp_path / "docs" / "training").mkdir(parents=True)
    write(tmp_path / "report", tmp_path / "docs")
    page = (tmp_path / "docs" / "training-runs.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((training/[^)]+)\)", page)
    pictures = [link for link in links if link.endswith(".svg")]
    assert len(pictures) >= 9 and all((tmp_path / "docs" / link).is_file() for link in pictures)
    assert (
        page.startswith("# Training: all runs\n\nThis page has the numbers")
        and "training/experiments.toml" in links
    )
    assert "35 runs of 3 experiments" in page and page.count("\n# ") == 0
