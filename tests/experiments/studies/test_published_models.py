"""The grid that ships as ``published``: whole published models, and the page that has their table."""

import json
import pickle
from pathlib import Path

import pytest

import agattn as ag
from agattn.errors import InputError
from agattn.experiments.studies.cache import Cache
from agattn.experiments.studies.grid import grid_text, read_grid
from agattn.experiments.studies.jobs import StudyLines, key_of, read_lines, written
from agattn.experiments.studies.study import study
from agattn.reports.document import markdown
from agattn.reports.study_report import study_report

JOBS = read_grid(grid_text(Path("published"))).jobs
PAGE = (Path(__file__).parents[3] / "docs" / "networks" / "whole-models.md").read_text(encoding="utf-8")
SMALL = (
    'config = { model_type = "gpt2", n_embd = 8, n_head = 2, n_layer = 1, vocab_size = 9, n_positions = 4 }'
)


@pytest.fixture(scope="module")
def lines():
    """The answers about models whose dimension takes no time."""
    return [*study([job for job in JOBS if job.architecture.config["model_type"] in ("gpt2", "opt", "bert")])]


def test_the_page_has_the_row_of_each_model(lines):
    [table] = StudyLines(tuple(lines)).sheet().tables
    rows = [f"| {' | '.join(map(str, row))} |" for row in (table.headings, *table.rows)]
    assert len(rows) == 4 and set(rows) <= set(PAGE.splitlines())
    for model in (job.architecture for job in JOBS):
        redundant = model.parameters - model.whole.upper_bound
        row = f"| {model.published.family} | {model.name} | {model.parameters} | {redundant} |"
        assert f"\n{row} {1000 * redundant / model.parameters:.2f} | proved |\n" in PAGE
    assert sum(line.endswith("| proved |") for line in PAGE.splitlines()) == len(JOBS) == 21


def test_an_answer_is_that_of_the_command(lines):
    for line in lines:
        config = line["architecture"]["config"]
        answer = ag.dimension(ag.from_config(config)).as_json()
        assert line["result"] == json.loads(json.dumps(answer)) and line["status"] == 0


def test_lines_are_read_again_and_reported(lines):
    again = read_lines("".join(written(line) + "\n" for line in lines))
    assert again == lines
    report = markdown(study_report(again, pictures=False))
    assert (
        "# Study of 3 models" in report and "| gpt2 | gpt2 | 124439808 | 1346584 | 10.82 | proved |" in report
    )
    assert "## Dimensions" not in report


def other(line, **changed):
    """The line with something else in it, and the key that it would have."""
    line = line | changed
    return written(line | {"key": key_of(line["job"], line["architecture"], line["versions"])})


def test_a_line_that_is_about_another_model_is_refused(lines):
    bert, gpt2 = lines[:2]
    for bad in (other(bert, architecture=gpt2["architecture"]), other(bert, result=gpt2["result"])):
        with pytest.raises(InputError, match="its result is about another architecture"):
            read_lines(bad)
    model = gpt2["result"]["model"] | {"total": 7}
    for bad in (model, None):
        with pytest.raises(InputError, match="its result is about another architecture"):
            read_lines(other(gpt2, result=gpt2["result"] | {"model": bad}))
    with pytest.raises(InputError, match="its result is about another architecture"):
        read_lines(other(gpt2, architecture={"d": 3, "d_out": 2, "a": 2, "t": 2}))
    with pytest.raises(InputError, match="vocab_size is 0"):
        config = gpt2["architecture"]["config"] | {"vocab_size": 0}
        read_lines(other(gpt2, architecture=gpt2["architecture"] | {"config": config}))


def test_answers_are_kept_and_jobs_are_sent(tmp_path):
    text = f'ask = "dimension"\n[[configurations]]\nname = "small"\n{SMALL}\n'
    [job] = read_grid(text).jobs
    assert pickle.loads(pickle.dumps(job)) == job
    cache = Cache(tmp_path)
    first, second = ([*study([job], cache=cache)] for _ in range(2))
    assert [line["cached"] for line in (*first, *second)] == [False, True]
    assert first[0]["result"] == second[0]["result"]


def test_networks_and_published_models_have_tables_of_their_own():
    network = "[[networks]]\ndims = [[2, 2]]\nranks = [[1]]\n"
    model = f'[[configurations]]\nask = "dimension"\nname = "small"\n{SMALL}\n'
    answers = ag.study(f'ask = "dimension"\n{network}{model}')
    first, second = answers.sheet().tables
    assert first.rows[0][0] == "M(2,2,1), t = 3" and second.rows[0][1] == "small"
    report = markdown(study_report(list(answers), pictures=False))
    assert "## Dimensions" in report and "## Published models" in report
    several = ag.study(f'ask = ["dimension", "symmetries"]\n{network}{model}')
    assert "parameters count, at most" in markdown(study_report(list(several), pictures=False))
