"""Grid files: what they stand for; ``tests/cli/bad_calls.txt`` has those that stand for nothing."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agattn.architectures import DeepNetwork, SingleLayer
from agattn.claims import LAYER_CLAIMS as CLAIMS
from agattn.errors import InputError, TooLargeError
from agattn.experiments.studies import grid as grid_module
from agattn.experiments.studies.grid import example, numbers, read_grid

LAYER = "[layers]\nd = 2\nd_out = 1\n"
NETWORK = "[[networks]]\ndims = [[2, 2]]\nranks = [[2]]\n"


def architectures(text, **more):
    return [job.architecture for job in read_grid(text, **more).jobs]


@pytest.mark.parametrize("text", ["theorem-3.4", "3.4", "Theorem 3.4"])
def test_a_theorem_stands_for_all_of_its_claims(text):
    """As for ``agattn verify --claim``; networks are asked about the claims about networks alone."""
    grid = f'claims = ["{text}", "3.7"]\n' + LAYER + NETWORK
    layer, network = read_grid(grid).jobs
    assert layer.claims == tuple(name for name in CLAIMS if name.startswith("theorem-3.4."))
    assert network.claims == ("theorem-3.7",)


def test_the_example_is_a_grid():
    jobs = read_grid(example()).jobs
    assert len(jobs) == 18 and len(set(jobs)) == 18
    assert jobs[0].architecture == SingleLayer(1, 1) and jobs[-1].architecture.ranks == (1, 2)
    layers = [job for job in jobs if isinstance(job.architecture, SingleLayer)]
    assert len(layers) == 12 and {job.claims for job in layers} == {("corollary-3.3", "theorem-3.4.singular")}
    assert {job.claims for job in jobs[12:]} == {("corollary-3.8",)}


def test_every_combination_in_order():
    found = architectures('ask = "strata"\n[layers]\nd = "2..3"\nd_out = [2, 1]\na = [1, "d"]\nt = [2, 3]\n')
    expected = [
        SingleLayer(d, d_out, a, t) for d in (2, 3) for d_out in (2, 1) for a in (1, d) for t in (2, 3)
    ]
    assert found == expected


def test_what_is_left_out_is_as_on_the_command_line():
    assert architectures(LAYER) == [SingleLayer(2, 1)]
    assert architectures(NETWORK) == [DeepNetwork((2, 2), (2,))]
    (job,) = read_grid(LAYER).jobs
    assert (job.ask, job.engine, job.seed, job.timeout, job.memory, job.claims) == (
        "verify", "auto", 0, 60.0, 8192, (),
    )  # fmt: skip


def test_duplicates_are_done_once():
    text = '[[layers]]\nd = [2, 2, "1..2"]\nd_out = 1\n[[layers]]\nd = 2\nd_out = 1\na = "1..d"\n'
    assert architectures(text) == [SingleLayer(2, 1), SingleLayer(1, 1), SingleLayer(2, 1, 1)]
    assert len(architectures(NETWORK + "temperature = [1, 1.0]\nheads = [[1], [1]]")) == 1


def test_several_questions():
    """A block has its own questions and its own last degree, or those of the grid."""
    text = 'ask = ["dimension", "symmetries"]\n[[networks]]\ndims = [[2, 2], [3, 2]]\nranks = [[1]]\n'
    own = '[layers]\nask = ["ideal", "symmetries", "ideal"]\nd = 2\nd_out = 1\nmax_degree = 2\n'
    found = [(str(job.architecture), job.settings) for job in read_grid(text + own).jobs]
    assert found == [
        ("M(2,1,2): dimension 5 in ℝ⁶, t ≥ 2", {"ask": "ideal", "max_degree": 2, "seed": 0}),
        ("M(2,1,2): dimension 5 in ℝ⁶, t ≥ 2", {"ask": "symmetries", "seed": 0}),
        *[
            (name, {"ask": ask, "seed": 0})
            for name in ("M(2,2,1), t = 3", "M(3,2,1), t = 3")
            for ask in ("dimension", "symmetries")
        ],
    ]


def test_networks():
    text = """
        ask = "dimension"
        seed = 7
        [[networks]]
        dims = [[4, "2..3", 4], [3, 3, 3]]
        ranks = [2, 2]
        t = ["2..3"]
        heads = [1, 2]
        normalization = ["none", "softmax"]
        value_rank = ["none", 1]
        [[networks]]
        dims = [5, 5]
        ranks = [2]
        skip = [false, true]
        heads = [[3]]
    """
    found = architectures(text)
    assert len(found) == 3 * 2 * 2 * 2 * 2 + 2
    assert found[0] == DeepNetwork((4, 2, 4), (2, 2), 2) and found[1].value_rank == 1
    assert found[-1] == DeepNetwork((5, 5), (2,), 3, heads=3, skip=True)
    assert {job.seed for job in read_grid(text).jobs} == {7}


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.tuples(st.integers(1, 5), st.integers(0, 4)),
    st.sampled_from(["d", "1..d", "d_out", "1..d_out"]),
    st.lists(st.integers(1, 3), min_size=1, max_size=2),
)
def test_a_grid_is_the_product_of_its_lists(d, low_and_more, a, t):
    low, more = low_and_more
    text = f'[layers]\nd = {d}\nd_out = "{low}..{low + more}"\na = "{a}"\nt = {t}\n'
    expected = {
        SingleLayer(one, other, attention, tokens)
        for one in d
        for other in range(low, low + more + 1)
        for attention in {
            "d": [one], "1..d": range(1, one + 1), "d_out": [other], "1..d_out": range(1, other + 1),
        }[a]
        for tokens in t
    }  # fmt: skip
    found = architectures(text)
    assert len(found) == len(expected) and set(found) == expected


@pytest.mark.slow
@given(st.text(max_size=40), st.sampled_from(["d = {}", 'd = "{}"', "{} = 1", "{}"]))
def test_no_text_makes_more_than_a_message(text, pattern):
    try:
        read_grid("[layers]\nd_out = 1\n" + pattern.replace("{}", text))
    except InputError as error:
        assert "\n" not in str(error).strip() and str(error)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5)
)
def test_no_value_makes_more_than_a_message(value):
    for where in ("d", "layers: a"):
        try:
            assert all(type(found) is range and found.start >= 1 for found in numbers(where, value, {"d": 3}))
        except InputError as error:
            assert str(error).startswith(where)


def test_the_command_line_counts_more_than_the_file():
    (job,) = read_grid(
        'seed = 1\ntimeout = 5\nengine = "macaulay2"\n' + LAYER, {"seed": 2, "memory": 100}
    ).jobs
    assert (job.seed, job.timeout, job.memory) == (2, 5, 100)
    with pytest.raises(InputError, match="timeout means nothing"):
        read_grid('ask = "strata"\n' + LAYER, {"timeout": 3.0})


def test_too_many_jobs(monkeypatch):
    text = '[layers]\nd = "1..10"\nd_out = "1..10"\n'
    monkeypatch.setattr(grid_module, "MAX_JOBS", 99)
    with pytest.raises(TooLargeError, match=r"d_out = '1..10' makes at least 100 jobs and the limit is 99; "):
        read_grid(text)
    assert len(read_grid(text, force=True).jobs) == 100
    monkeypatch.setattr(grid_module, "MAX_JOBS", 100)
    assert len(read_grid(text).jobs) == 100
    with pytest.raises(TooLargeError, match="2: d = 3 makes 1 job, 100 come before, and the limit is 100"):
        read_grid(text.replace("[layers]", "[[layers]]") + "[[layers]]\nd = 3\nd_out = 3")


ROWS = "dims = [{}]\nranks = [[2]]\n"
WIDE = '"1..10000"'


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (f"[layers]\nd = [{', '.join([WIDE] * 500)}]\nd_out = 1", "makes 5,000,000 jobs"),
        (f"[layers]\nd = {WIDE}\nd_out = {WIDE}", "layers: d_out = '1..10000' makes at least 20,000 jobs"),
        (f"[layers]\nd = {WIDE}\nd_out = 1\na = '1..d'", "layers: a = '1..d' makes at least 10,011 jobs"),
        (f"[layers]\nd = {WIDE}\nd_out = 1\na = ['2..d_out', '2..d_out']", "layers: a = ["),
        (f"[layers]\nd = {WIDE}\nd_out = 1\nt = {WIDE}", "layers: t = '1..10000' makes at least 20,000 jobs"),
        (NETWORK + f"heads = {WIDE}\nt = [2, 3]", "1 dims × 1 ranks × 2 t × 10,000 heads makes 20,000 jobs"),
        (NETWORK + "heads = '1..100000'", "heads is '1..100000'; numbers must lie between 1 and 10000"),
        (NETWORK + f"heads = [[{WIDE}, {WIDE}]]", "networks: heads makes 100,000,000 jobs"),
        (NETWORK + f"value_rank = ['none', {WIDE}]", "networks: value_rank makes 10,001 jobs"),
        ("[[networks]]\n" + ROWS.format(f"[{WIDE}, {WIDE}]"), "networks: dims makes 100,000,000 jobs"),
        ("[[networks]]\n" + ROWS.format(f"[{', '.join([WIDE] * 3000)}]"), "dims makes more than 10^15 jobs"),
        (
            f"[[networks]]\ndims = [{[2] * 1001}]\nranks = [{[2] * 1000}]\nt = '2..1001'",
            "1 dims × 1 ranks × 1,000 t are 1,001,000 layers; the limit is 1,000,000",
        ),
    ],
    ids=lambda text: text[-30:],
)  # fmt: skip
def test_jobs_are_counted_before_any_is_made(monkeypatch, block, message):
    def made(*given, **named):
        raise AssertionError("an architecture was made")

    monkeypatch.setattr(grid_module, "SingleLayer", made)
    monkeypatch.setattr(grid_module, "DeepNetwork", made)
    made_of = []
    monkeypatch.setattr(
        grid_module, "chain", lambda *ranges: made_of.extend(ranges) or itertools.chain(*ranges)
    )
    with pytest.raises(InputError) as error:
        read_grid(block)
    assert message in str(error.value) and "\n" not in str(error.value)
    assert sum(map(len, made_of)) <= 4 * grid_module.MAX_JOBS


def test_jobs_are_counted_with_all_questions():
    text = 'ask = ["dimension", "symmetries"]\n[[networks]]\ndims = [["1..80", "1..70"]]\nranks = [[1]]\n'
    with pytest.raises(TooLargeError, match="networks makes 11,200 jobs and the limit is 10,000"):
        read_grid(text)


def test_there_is_a_limit_even_to_force():
    with pytest.raises(TooLargeError, match="1,010,000 jobs and the limit is 1,000,000; split the grid"):
        read_grid(f"[layers]\nd = {WIDE}\nd_out = {WIDE}", force=True)


@given(st.integers(1, 9), st.integers(1, 9))
def test_parts_are_the_whole(n, size):
    grid = read_grid(f'[layers]\nd = "1..{size}"\nd_out = 1\n')
    parts = [grid.part(f"{k}/{n}") for k in range(1, n + 1)]
    assert sorted(job.architecture.d for part in parts for job in part) == list(range(1, size + 1))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "a/2", "1/2/3", "-1/2", "1/", "٣/4"])
def test_no_part(text):
    with pytest.raises(InputError, match="write K/N with K from 1 to N"):
        read_grid(LAYER).part(text)
