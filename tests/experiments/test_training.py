"""Training: losses, what flow conserves, how runs end, and the command."""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import ROOT, call, validate

import agattn as ag
from agattn.errors import InputError
from agattn.experiments.training import training
from agattn.experiments.training.conserved import conserved, count, drift
from agattn.experiments.training.experiment import Experiment, example, read_experiments
from agattn.experiments.training.teachers import Data, PopulationLoss, SampleLoss, Teacher
from agattn.experiments.training.training import descent, flow, start, train, training_jobs
from agattn.geometry.critical_points.loss import loss as exact_loss
from agattn.geometry.strata.strata import Stratum
from agattn.geometry.variety.coordinates import coefficients

SPHERE = Data(12, "sphere")
#: Architectures, teachers and data that between them use every branch.
CASES = [
    (ag.SingleLayer(3, 2, 2), Teacher("stratum", stratum=(2, 1, 3)), Data()),
    (ag.SingleLayer(2, 1, t=1), Teacher(), Data()),
    (ag.SingleLayer(2, 2), Teacher("zariski"), Data(9)),
    (ag.DeepNetwork((2, 2), (1,), t=2, heads=2), Teacher("limit"), Data()),
    (ag.DeepNetwork((2, 2, 1), (2, 2), t=2), Teacher("limit"), SPHERE),
    (ag.DeepNetwork((2, 2, 2), (2, 2), t=2, skip=True), Teacher("ranks", ranks=(1, 2)), SPHERE),
    (ag.DeepNetwork((2, 2, 2), (1, 2), t=2, heads=(2, 1), normalization="softmax"), Teacher(), SPHERE),
    (ag.Network([ag.Perceptron([3, 1], degree=2)], dim=2), Teacher("outside"), Data(9)),
]


def derivatives(architecture, teacher, data, theta, compiled):
    """The values, the gradients and the Hessian matrices of a loss."""
    loss = teacher.loss(architecture, data, 1, compiled)
    return *loss(theta), loss.hessian(theta)


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "teacher", "data"), CASES[-2:], ids=lambda x: str(x)[:20])
def test_compiled_losses_are_the_same(architecture, teacher, data):
    theta = np.random.default_rng(0).standard_normal((1, architecture.parameters))
    asked = partial(derivatives, architecture, teacher, data, theta)
    # JAX starts threads: here they would end every later test that forks.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        compiled = apart.submit(asked, compiled=True).result()
    for x, y in zip(asked(compiled=False), compiled, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12 * abs(y).max())


def test_compiled_is_for_the_flow_of_samples(monkeypatch):
    network = ag.DeepNetwork((2, 2), (1,), t=2)
    for options in ({"data": Data()}, {"data": SPHERE, "method": "descent"}):
        with pytest.raises(InputError, match="compiled is for gradient flow with samples"):
            Experiment(network, compiled=True, **options)
    with pytest.raises(InputError, match="it must be true or false"):
        Experiment(network, data=SPHERE, compiled=1)
    monkeypatch.setattr(
        "agattn.experiments.training.training.find_spec", lambda name: None if name == "jax" else name
    )
    with pytest.raises(InputError, match=r"agattn\[jax\]"):
        train(Experiment(network, data=SPHERE, compiled=True))
    assert Experiment(network, data=SPHERE, compiled=True).as_json()["compiled"]
    assert "compiled" not in Experiment(network, data=SPHERE).as_json()


@pytest.mark.parametrize(("architecture", "teacher", "data"), CASES, ids=lambda x: str(x)[:20])
def test_gradients_and_hessians_are_derivatives(architecture, teacher, data):
    loss = teacher.loss(architecture, data, seed=1)
    draw = np.random.default_rng(0)
    theta = draw.standard_normal((3, architecture.parameters)) / 2
    d = draw.standard_normal(architecture.parameters)
    ahead, behind = loss(theta + 1e-6 * d), loss(theta - 1e-6 * d)
    values, gradient = loss(theta)
    assert np.allclose((ahead[0] - behind[0]) / 2e-6, gradient @ d, rtol=1e-6)
    assert np.allclose((ahead[1] - behind[1]) / 2e-6, loss.hessian(theta) @ d, rtol=1e-5, atol=1e-6)
    assert np.allclose(values[1], loss(theta[1:2])[0][0])
    assert np.allclose(loss.hessian(theta)[1], loss.hessian(theta[1:2])[0])


@pytest.mark.parametrize("layer", [ag.SingleLayer(2, 2, 1, t=3), ag.SingleLayer(2, 2, t=1)])
def test_the_loss_of_the_population_is_the_exact_one(layer):
    draw = np.random.default_rng(3)
    K, Q, V = (draw.integers(-3, 4, shape) for shape in layer.shapes.values())
    target = draw.integers(-3, 4, layer.ambient_dimension)
    y = coefficients(layer, K.T @ Q, V).tolist()
    exact = exact_loss(layer, "gaussian", target=target.tolist()).value([Fraction(x) for x in y])
    theta = np.concatenate([M.ravel() for M in (K, Q, V)])[None].astype(float)
    assert PopulationLoss(layer, target)(theta)[0][0] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("architecture", "teacher", "data"), CASES, ids=lambda x: str(x)[:20])
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_flow_conserves_what_the_symmetries_say(architecture, teacher, data, decay):
    loss = teacher.loss(architecture, data, seed=1)
    first = start(architecture, 0.3, seed=2)
    path = flow(loss, first, time=3 / (1 + loss(first[None])[0][0]), decay=decay)
    objective = loss(path.weights)[0] + decay / 2 * (path.weights**2).sum(1)
    assert path.problem is None and objective[-1] < objective[0] - 1e-7
    assert drift(architecture, path.weights, path.times, decay) < 1e-8
    found = conserved(architecture)
    assert len(found.names) > 0  # decay shows, and so do changes of the weights
    assert decay == 0 or drift(architecture, path.weights, path.times) > 1e-6
    assert np.abs(found.values(1.1 * first) - found.values(first)).max() > 1e-3


def test_conserved_forms_are_those_of_the_theory():
    network = ag.DeepNetwork((2, 3, 2), (2, 1), t=2, heads=(1, 2))
    w = {name: np.random.default_rng(1).integers(-5, 6, shape) for name, shape in network.shapes.items()}
    theta = np.concatenate([M.ravel() for M in w.values()])

    def upper(M):
        return (M * (2 - np.eye(len(M), dtype=int)))[np.triu_indices(len(M))].tolist()

    K, Q, V = ([*w[f"{letter}_1"], *w[f"{letter}_2"]] for letter in "KQV")
    between = V[0] @ V[0].T - sum(M.T @ M for letter in (K, Q, V) for M in letter[1:])
    inside = [
        [*upper(q @ q.T - k @ k.T), (k**2).sum() - (v**2).sum()] for k, q, v in zip(K, Q, V, strict=True)
    ]
    assert conserved(network).values(theta).tolist() == [*inside[0], *upper(between), *inside[1], *inside[2]]
    names = ("GL(a)", "scaling", "GL(d)")
    counts = [[conserved(A).names.count(name) for name in names] for A, *_ in CASES[4:7]]
    assert counts == [[6, 2, 3], [6, 2, 0], [5, 0, 3]]  # softmax has no scaling and skips no bases


@pytest.mark.parametrize(
    ("architecture", "number"),
    [(ag.SingleLayer(2, 1), 4), (ag.SingleLayer(2, 2, 1), 2), (ag.SingleLayer(2, 1, t=1), 5),
     (ag.DeepNetwork((2, 2), (1,), t=2, heads=2), 4),
     (ag.Network([ag.Perceptron([2, 1], degree=2)], dim=2), 2)],
    ids=str,
)  # fmt: skip
def test_nothing_else_is_conserved(architecture, number):
    found = count(architecture)
    assert found == (number, number) and found.complete


def test_generic_teachers_are_learned_with_the_fiber_as_zeros():
    runs = train(Experiment(ag.SingleLayer(3, 2, 2), scale=0.1, seeds=tuple(range(6))))
    assert {run["outcome"] for run in runs} == {"converged"}
    zeros = [run["hessian_zeros"] for run in runs if run["loss"] < 1e-6]
    assert len(zeros) >= 5 and set(zeros) == {5}
    assert all(run["fiber_dimension"] == 5 and run["drift"] < 1e-8 for run in runs)
    assert all(run["stratum"] == [2, 2, 3] and not run["singular"] for run in runs if run["loss"] < 1e-20)
    validate_all(runs)


def test_with_decay_the_rescaling_is_no_zero_and_only_rotations_are():
    [run] = ag.train(ag.SingleLayer(2, 1), seeds=1, decay=1.0)
    assert (run["outcome"], run["hessian_zeros"], run["hessian_negative"]) == ("converged", 1, 0)
    assert run["hessian"][0] == pytest.approx(2)  # twice the decay
    [[sigma]], [[stable]] = run["singular_values"], run["stable_ranks"]
    assert stable == pytest.approx([(np.array(s) ** 2).sum() / s[0] ** 2 for s in sigma], rel=1e-4)


def test_weights_diverge_to_a_limit_of_two_heads_at_the_proved_rate():
    network = ag.DeepNetwork((2, 2), (1,), t=2, heads=2)
    [run] = ag.train(network, "limit", seeds=1, time=1e7)
    assert run["outcome"] == "diverged" and run["diverged"] and run["drift"] < 1e-8
    assert run["ranks"] is run["stratum"] is run["hessian_zeros"] is None
    times, losses = (np.log(run["history"][name][1:]) for name in ("time", "loss"))
    late = times >= times[-1] - np.log(100) - 1e-9
    assert np.polyfit(times[late], losses[late], 1)[0] == pytest.approx(-9 / 11, rel=0.05)
    assert run["growth"] == pytest.approx(1 / 11, rel=0.1)


def test_what_goes_wrong_is_no_limit_point(monkeypatch):
    layer = ag.SingleLayer(2, 1)
    [wild] = ag.train(layer, seeds=1, method="descent", rate=50.0, steps=100)
    assert wild["outcome"] == "diverged" and wild["diverged"] and np.isfinite(wild["loss"])
    assert wild["stratum"] is wild["ranks"] is None
    monkeypatch.setattr(training, "MOST_STEPS", 12)
    [stiff] = ag.train(layer, seeds=1)
    assert (stiff["outcome"], stiff["stratum"], stiff["hessian_zeros"]) == ("stiff", None, None)
    assert stiff["time"] < 1e6
    validate_all([wild, stiff])
    [job] = training_jobs([Experiment(layer, seeds=(1,))])
    assert job.answer()[1] == 3


@pytest.mark.parametrize(("tokens", "outputs"), [(3, 1), (2, 2)])
def test_samples_fit_inputs_and_outputs(tokens, outputs):
    """Either of them alone is refused."""
    network = ag.DeepNetwork((2, 1), (1,), t=2)
    with pytest.raises(InputError, match="does not fit M"):
        SampleLoss(network, np.zeros((4, 2, tokens)), np.zeros((4, outputs, 2)))


def test_descent_follows_the_flow_and_langevin_samples():
    layer = ag.SingleLayer(2, 1)
    loss = Teacher().loss(layer, Data(), seed=0)
    first = start(layer, 0.5, 0)
    errors = []
    for steps in (500, 1000, 2000):
        [path] = descent(loss, first[None], steps, 1 / steps)
        assert path.steps == steps
        errors.append(np.abs(path.weights[-1] - flow(loss, first, 1.0).weights[-1]).max())
    assert all(1.8 < a / b < 2.2 for a, b in pairwise(errors))

    # At equilibrium of L + μ/2 ‖θ‖² with temperature T every weight has ⟨θ ∂/∂θ⟩ = T; here without a loss.
    class Nothing(type(loss)):
        def __call__(self, theta):
            return 0 * theta[:, 0], 0 * theta

    none = Nothing(layer, np.zeros(layer.ambient_dimension))
    chains = descent(none, np.zeros((400, 10)), 400, 0.05, decay=1.0, temperature=0.3, seeds=range(400))
    assert np.var([path.weights[-1] for path in chains]) == pytest.approx(0.3 / (1 - 0.05 / 2), rel=0.06)
    [run] = ag.train(layer, seeds=1, method="langevin", temperature=1e-3, steps=50)
    assert run["outcome"] == "sampled"


def test_untrained_weights_are_the_start_of_training():
    [bare] = ag.train(ag.SingleLayer(3, 2, 2), seeds=[7], method="untrained")
    [run] = ag.train(ag.SingleLayer(3, 2, 2), seeds=np.array([7]), time=np.float32(1))
    assert bare["loss"] == pytest.approx(run["history"]["loss"][0], rel=1e-3)
    assert bare["outcome"] == "untrained" and bare["drift"] == 0


FILE = """
seeds = 2
[[experiment]]
name = "generic"
layer = {d = 2, d_out = 1}
[[experiment]]
name = "same, from small weights"
layer = {d = 2, d_out = 1}
scale = 0.01
time = 10
"""


def validate_all(runs):
    for run in runs:
        validate("train", json.loads(json.dumps(run, allow_nan=False)))


def test_the_command_keeps_runs_and_reports(tmp_path):
    (tmp_path / "c.toml").write_text(FILE)
    words = ("train", tmp_path / "c.toml", "--cache", tmp_path / "kept")
    first = call(*words, "-O", tmp_path / "a.jsonl", "-O", tmp_path / "r")
    lines = [json.loads(row) for row in (tmp_path / "a.jsonl").read_text().splitlines()]
    validate_all(lines)
    assert [(line["experiment"], line["seed"]) for line in lines] == [
        (name, seed) for name in ("generic", "same, from small weights") for seed in (0, 1)
    ]
    assert (first.status, first.err.splitlines()[1]) == (0, "2 jobs, 4 results: 2 converged, 2 unfinished")
    assert "4 runs of 2 experiments" in (tmp_path / "r" / "report.md").read_text()
    assert "generic" in first.out and "converged" in first.out and "{" not in first.out
    csv, tex = tmp_path / "runs.csv", tmp_path / "runs.tex"
    assert call(*words, "-O", csv, "-O", tex).status == 0
    assert csv.read_text().startswith("experiment,runs,outcomes,limits,loss,drift\ngeneric,2,")
    assert tex.read_text().count(r"\\") == 3
    again = call(*words, "--json")
    assert again.out == (tmp_path / "a.jsonl").read_text() and "(2 from the cache)" in again.err
    assert "4 runs in 2 jobs, 2 of them cached" in call(*words, "--dry-run").out
    # The name of an experiment is not what is kept.
    (tmp_path / "c.toml").write_text(FILE.replace('"generic"', '"renamed"'))
    assert call(*words, "--json", "--seeds", "0..1").out == again.out.replace('"generic"', '"renamed"')
    assert len(training_jobs(read_experiments(FILE, "0..99"))) == 10


def test_the_command_refuses_what_it_cannot_do_before_the_work(tmp_path):
    impossible = '[[experiment]]\nname = "no"\nlayer = {d = 2, d_out = 1}\nteacher = {kind = "limit"}\n'
    (tmp_path / "c.toml").write_text(FILE + impossible)
    ended = call("train", tmp_path / "c.toml", "--cache", tmp_path / "kept")
    assert (ended.status, ended.out) == (2, "")
    assert "no: M(2,1,2)" in ended.err and len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("kind", ["'generic'", "'outside'", "'zariski'", "'stratum', stratum = [1, 1, 2]"])
def test_a_dry_run_computes_no_loss(kind, tmp_path, monkeypatch):
    """At d = 20 the loss is a form in 84,000 coordinates."""
    monkeypatch.setattr("agattn.experiments.training.teachers.gaussian_gram", None)
    monkeypatch.setattr("agattn.experiments.training.teachers.PopulationLoss", None)
    text = f"[experiment]\nlayer = {{d = 20, d_out = 20}}\nteacher = {{kind = {kind}}}\nseeds = 3"
    (tmp_path / "c.toml").write_text(text)
    ended = call("train", tmp_path / "c.toml", "--dry-run", "--no-cache")
    assert ended == (0, "3 runs in 1 job, 0 of them cached\n", "")


def test_a_small_gradient_on_the_way_to_infinity_is_no_limit_point(monkeypatch):
    monkeypatch.setattr("agattn.experiments.training.training.SMALL", 1e3)
    [far] = ag.train(ag.DeepNetwork((2, 2), (1,), t=2, heads=2), "limit", seeds=1, time=1e5)
    [near] = ag.train(ag.SingleLayer(2, 1), seeds=1)
    assert (far["outcome"], near["outcome"]) == ("diverged", "converged") and far["hessian_zeros"] is None


def test_flow_that_drifts_is_stiff(monkeypatch):
    monkeypatch.setattr("agattn.experiments.training.training.DRIFT", 1e-16)
    [run] = ag.train(ag.SingleLayer(2, 1), seeds=1)
    assert run["outcome"] == "stiff" and run["stratum"] is None and 1e-16 < run["drift"] < 1e-8


@pytest.mark.slow
def test_the_example_works_and_is_the_one_in_the_folder(tmp_path):
    assert example() == (ROOT / "examples" / "train.toml").read_text(encoding="utf-8")
    ended = call(
        "train", ROOT / "examples/train.toml", "--no-cache", "--seeds", "1", "--json", "-O", tmp_path
    )
    assert ended.status == 0 and len(ended.out.splitlines()) == 4
    assert "two layers" in (tmp_path / "report.md").read_text() and (tmp_path / "runs.svg").exists()


@pytest.mark.slow
def test_langevin_dynamics_meet_the_learning_coefficient():
    """M(2,1,2) at a smooth point: the mean of L/T tends to λ = 5/2 for T → 0 (Watanabe)."""
    options = {"method": "langevin", "temperature": 1e-4, "decay": 1e-4, "scale": 0.1, "rate": 5e-3}
    teacher = Teacher(seed=0)
    runs = train(Experiment(ag.SingleLayer(2, 1), teacher, steps=4000, seeds=tuple(range(60)), **options))
    energies = np.array([run["loss"] / 1e-4 for run in runs if run["outcome"] == "sampled"])
    energies = energies[energies <= 100]  # in a local minimum, L/T tells nothing of λ
    error = energies.std(ddof=1) / len(energies) ** 0.5
    assert len(energies) > 20 and abs(energies.mean() - 2.5) < 4 * error < 1.5


def test_the_intervals_of_the_page_are_those_of_wilson():
    stats = pytest.importorskip("scipy.stats")
    page = (ROOT / "docs" / "experiments" / "training.md").read_text(encoding="utf-8")
    shares = re.findall(r"(\d+) of (\d+) \(([\d.]+) %, ([\d.]+) to ([\d.]+) %\)", page)
    assert len(shares) >= 6
    for k, n, share, low, high in shares:
        interval = stats.binomtest(int(k), int(n)).proportion_ci(method="wilson")
        assert float(share) == pytest.approx(100 * int(k) / int(n), abs=0.5)
        assert [float(low), float(high)] == pytest.approx([100 * x for x in interval], abs=0.5)


def decayed(layer, K, Q, V, target, decay):
    """The least of the loss with decay, and its K and Q, from these weights by descent."""
    optimize = pytest.importorskip("scipy.optimize")
    loss = PopulationLoss(layer, target)

    def objective(theta):
        value, slope = (x[0] for x in loss(theta[None]))
        return value + decay / 2 * theta @ theta, slope + decay * theta

    first = np.concatenate([M.ravel() for M in (K, Q, V)])
    found = optimize.minimize(objective, first, jac=True, method="BFGS", options={"gtol": 1e-10})
    n = K.size
    return found.fun, found.x[:n].reshape(K.shape), found.x[n : 2 * n].reshape(K.shape)


def test_both_lines_of_a_fiber_have_one_least_norm():
    """3 (‖A‖_* ‖V‖)^(2/3) is attained by balanced factors, on both lines, and by no other ones undercut."""
    draw = np.random.default_rng(4).standard_normal
    layer, (k, q, v, h) = ag.SingleLayer(3, 2, 2), (draw(3), draw(3), draw(3), draw(2))
    lines = [(np.outer(k, q), np.outer(h, v)), (np.outer(v, q), np.outer(h, k))]
    y = coefficients(layer, *lines[0]).astype(float)
    norm = 3 * (np.linalg.norm(lines[0][0], "nuc") * np.linalg.norm(lines[0][1])) ** (2 / 3)
    for A, V in lines:
        U, values, W = np.linalg.svd(A)
        s = (np.sum(V**2) / values.sum()) ** (1 / 3)
        roots = np.sqrt(s * values[:2])[:, None]
        K, Q = roots * U.T[:2], roots * W[:2]
        np.testing.assert_allclose(coefficients(layer, K.T @ Q, V / s).astype(float), y, atol=1e-12)
        assert np.sum(K**2) + np.sum(Q**2) + np.sum((V / s) ** 2) == pytest.approx(norm)
        for _ in range(200):
            C, c = draw((2, 2)), draw()
            others = np.linalg.inv(C).T @ K, C @ Q * c, V / s / c
            np.testing.assert_allclose(
                coefficients(layer, others[0].T @ others[1], others[2]).astype(float), y, atol=1e-8
            )
            assert sum(np.sum(M**2) for M in others) > norm


@pytest.mark.parametrize("inside", [False, True])
def test_weight_decay_lowers_ranks_for_an_open_set_of_teachers(inside):
    """The construction of training-proofs.md at M(2,2,2), with ρ = 1, and teachers around it."""
    layer, decay, draw = ag.SingleLayer(2, 2), 0.1, np.random.default_rng(1).standard_normal
    A, V = np.outer(draw(2), draw(2)), draw((2, 2))
    s = (np.sum(V**2) / np.linalg.norm(A, "nuc")) ** (1 / 3)
    A, V = A * s, V / s
    units = np.eye(4).reshape(-1, 2, 2)
    J = np.array([coefficients(layer, e, V) for e in units] + [coefficients(layer, A, e) for e in units]).T
    J = J.astype(float)
    G = np.array(exact_loss(layer, "gaussian").gram, float)
    U, _, W = np.linalg.svd(A)
    slope = np.concatenate([np.outer(U[:, 0], W[0]).ravel(), V.ravel()])  # of p_0, at ‖V‖² = ‖A‖_*
    step = np.linalg.lstsq(2 * J.T @ G @ J, slope)[0]
    np.testing.assert_allclose(2 * J.T @ G @ J @ step, slope)
    y = coefficients(layer, A, V).astype(float)
    target = y + decay * J @ step
    if inside:
        teacher = A + decay * step[:4].reshape(2, 2)
        assert np.linalg.svd(teacher)[1][1] > 1e-4
        target = coefficients(layer, teacher, V + decay * step[4:].reshape(2, 2)).astype(float)
    for noise in (0, 1e-5):
        near = target + noise * draw(target.shape)
        found = [decayed(layer, draw((2, 2)), draw((2, 2)), draw((2, 2)), near, decay) for _ in range(6)]
        least, K, Q = min(found, key=lambda one: one[0])
        values = np.linalg.svd(K.T @ Q)[1]
        assert values[1] < 1e-6 < values[0] and values[0] == pytest.approx(np.linalg.norm(A, 2), rel=1e-3)
        at = (y - near) @ G @ (y - near) + 1.5 * decay * np.sum(V**2)  # as ‖V‖² = ‖A‖_*
        assert least <= at * (1 + 1e-9) and (inside or noise or least == pytest.approx(at, rel=1e-7))


def test_a_teacher_may_have_rank_0():
    text = "[experiment]\nnetwork = {dims = [2, 2], ranks = [2], t = 2}\n"
    [experiment] = read_experiments(text + "teacher = {kind = 'ranks', ranks = [0]}")
    assert experiment.teacher.ranks == (0,)


@pytest.mark.parametrize(("drifted", "outcome"), [(2e-8, "stiff"), (5e-9, "unfinished")])
def test_a_flow_is_followed_where_little_drifts(drifted, outcome):
    [experiment] = read_experiments("[experiment]\nlayer = {d = 2, d_out = 1}")
    times = np.array([0.0, 1.0, 2.0])
    path = SimpleNamespace(problem=None, times=times, weights=np.ones((3, 8)))
    assert training.outcome_of(experiment, path, np.ones(3), 1.0, drifted) == outcome


def test_distances_are_measured_to_singular_strata_and_the_boundary():
    assert training.watched(ag.SingleLayer(2, 1)) == [Stratum(1, 1, 1), Stratum(1, 1, 2)]
    assert training.watched(ag.SingleLayer(1, 2)) == [Stratum(1, 1, 1)]
