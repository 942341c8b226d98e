r"""Train, and say where the weights went: strata, ranks, distances, conserved quantities, the Hessian.

The objective is L(θ) + μ/2 ‖θ‖² with weight decay μ. Gradient flow, by which the weights follow the negative
gradient of the objective, is solved by LSODA (Petzold and Hindmarsh; ``scipy.integrate.odeint``), which
changes between Adams and backward differentiation formulas as the flow becomes stiff: near a minimum the
rates differ by factors of thousands. One seed is solved at a time, as each needs its own steps: solving many
side by side, compiled by JAX, was no faster (``benchmarks/training.py``). Descent and Langevin dynamics take
fixed steps, all seeds at once. Gradient flow of a loss bounded below cannot explode in finite time, as
‖θ(t) − θ(0)‖² ≤ t (L(0) − L(t)); it may well go to infinity. Descent can overflow.

How a run ends is one of

- ``"converged"``: the gradient is below :data:`SMALL` and the run at rest, that is, since the last snapshot
  weights changed by less than :data:`REST` and the loss by less than 1 %, or to rounding errors; only these
  are limit points;
- ``"diverged"``: weights overflow, or grow like one power of time over a thousand-fold of it;
- ``"stiff"``: the solver needed too many steps, or what is conserved drifted by more than :data:`DRIFT`;
  nothing is said of where the run would have gone;
- ``"unfinished"``: time, or steps, ran out before; so end runs that converge like a power of time;
- ``"sampled"``: Langevin dynamics, which does not end;
- ``"untrained"``: the start.

All is numerical. Stratum, ranks and distances are those of the last weights, and ``None`` where the run
diverged or was stiff.

>>> from agattn import SingleLayer
>>> training = train(Experiment(SingleLayer(2, 1), seeds=(0, 1), time=1e4))
>>> print(training[0]["outcome"], training[0]["loss"] < 1e-20, max(run["drift"] for run in training) < 1e-10)
converged True True
>>> [(run["stratum"], run["hessian_zeros"], run["fiber_dimension"]) for run in training]
[([1, 2, 2], 5, 5), ([1, 2, 2], 5, 5)]
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import ceil, log10
from typing import Any, Literal

import numpy as np

from agattn.algebra.scalars import Array
from agattn.architectures import Architecture, SingleLayer
from agattn.architectures.protocol import as_parameters
from agattn.calls import is_ranks, one_of, refuse_unless
from agattn.checkpoints.head_geometry import head_geometry
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.experiments.studies.jobs import Job, JsonLines
from agattn.experiments.training.conserved import drift
from agattn.experiments.training.experiment import Experiment, read_seeds
from agattn.experiments.training.teachers import Data, Teacher, TrainingLoss, single_layer
from agattn.geometry.dimension.formulas import network_dimension
from agattn.geometry.identifiability.virtual_weights import sensitivities
from agattn.geometry.strata.strata import Stratum, distance_bounds, singular_by_ranks, strata
from agattn.limits import log, takes
from agattn.sheet.data import Note, Sheet, Table, Wide
from agattn.sheet.result import UNSET, Count, Key, Number, Result, UnsetType

#: A run has converged when the norm of the gradient is below this; teachers have norm 1.
SMALL = 1e-9
#: The relative change of weights at rest, between the last snapshots.
REST = 1e-3
#: Losses below this are rounding errors.
_ROUNDING = 1e-20
#: Gradient flow along which a conserved form drifts by more than this was not followed.
DRIFT = 1e-8
#: Singular values below this, relative to the largest, count as zero.
TOLERANCE = 1e-3
#: A head with ‖A‖‖V‖ below this is the function 0.
_NOTHING = 1e-6
#: Eigenvalues of the Hessian below this, relative to the largest, count as zero.
_FLAT = 1e-9
#: Weights go to infinity if they grow by at least this power of time, the same within this factor over the
#: last three powers of ten.
_GROWTH, _STEADY = 0.01, 1.4
#: Seeds that are done together, and kept together: of exact losses, and of samples, which take longer.
CHUNK, CHUNK_OF_SAMPLES = 20, 5

#: Weights above this have overflown.
LARGEST = 1e8
#: The most steps of the solver between two snapshots.
MOST_STEPS = 10_000
#: The number of weights of a path that are kept after the first.
SNAPSHOTS = 40
#: The time of the first snapshot after 0, relative to the whole.
_FIRST = 1e-9

Line = dict[str, Any]
Heads = list[list[list[Number]]]


class History(Result):
    """The way of a run, at some times."""

    time: Key[list[Number], "The times, from 0; of descent the rate times the steps."]
    loss: Key[list[float], "The loss, without weight decay."]
    gradient: Key[list[float], "The norm of the gradient, with weight decay."]
    norm: Key[list[float], "The norm of the weights."]
    second_singular_value: Key[
        list[list[float]] | UnsetType, "σ₂/σ₁ of A by layer, the least of its heads."
    ] = UNSET


class TrainedRun(Result, name="train", kw_only=True):
    """One line of the JSON Lines that agattn train prints: the run of one seed."""

    experiment: Key[str, "The name of the experiment."]
    seed: Key[Count, "The seed of all random choices."]
    outcome: Key[
        Literal["converged", "diverged", "stiff", "unfinished", "sampled", "untrained"],
        "How the run ended; only what converged is a limit point.",
    ]
    steps: Key[Count, "The steps that were taken."]
    time: Key[Number, "The time that was reached."]
    loss: Key[float, "The last loss; teachers have norm 1 where the architecture can be scaled."]
    gradient: Key[float, "The norm of the gradient at the last weights."]
    norm: Key[float, "The norm of the last weights."]
    growth: Key[float | None, "d log‖θ‖ / d log t over the last ten-fold of time."]
    drift: Key[Number, "The largest error of an entry of the conserved matrices along the path."]
    diverged: Key[bool, "Whether weights overflow, or still grow like a power of time."]
    ranks: Key[list[list[list[Count]]] | None, "[rk A, rk V] to tolerance, by layer and head."] = None
    stable_ranks: Key[Heads | None, "The stable ranks of A and V, by layer and head."] = None
    singular_values: Key[list[Heads] | None, "The singular values of A and V, by layer and head."] = None
    stratum: Key[Stratum | None, "[rk V, rk A, rk [V; Aᵀ]] of one layer of one head."] = None
    singular: Key[bool | None, "Whether the stratum is singular."] = None
    boundary: Key[bool | None, "Whether the stratum is on the boundary of M."] = None
    distances: Key[
        dict[str, list[Number]] | None, "Bounds on the relative distance of φ to the closures of strata."
    ] = None
    nearest: Key[
        dict[str, list[Number]] | None,
        "The least upper bound on each of these distances during the run, and its time.",
    ] = None
    fiber_dimension: Key[Count | None, "The number of parameters less dim M, by the formula for dim M."] = (
        None
    )
    hessian_zeros: Key[Count | None, "Zero eigenvalues of the Hessian at a limit point."] = None
    hessian_negative: Key[Count | None, "Negative eigenvalues of the Hessian at a limit point."] = None
    hessian: Key[
        list[Number] | None, "The smallest and the largest absolute value of eigenvalues that are not zero."
    ] = None
    history: Key[History, "The run at times evenly spaced in log t."]
    scores_seen: Key[
        list[float] | UnsetType | None,
        "Of a softmax network with one head in each layer, at the weights where the run ends: the largest "
        "singular value of the differential in the scores M_i of each layer, divided by that in L. Below "
        "1e-12 the scores are not seen.",
    ] = UNSET


class Runs(JsonLines):
    """The runs of experiments, a line for each seed."""

    evidence = Evidence.NUMERICAL

    def sheet(self) -> Sheet:
        """How the runs ended, and where."""
        return runs_sheet(self)

    def summary(self) -> str:
        """How many runs ended in which way."""
        ends = Counter(run["outcome"] for run in self).most_common()
        counts = ", ".join(f"{number} {outcome}" for outcome, number in ends)
        return f"{len(self)} runs, {counts} ({self.evidence})"


@dataclass(frozen=True, eq=False, repr=False)
class Training(Runs):
    """The runs of one experiment."""

    experiment: Experiment

    def summary(self) -> str:
        """How many runs ended in which way."""
        return f"{self.experiment}: {super().summary()}"


def runs_sheet(runs: Sequence[Line]) -> Sheet:
    """A row for each experiment: how its runs ended, the ranks of their limits, and the drift.

    >>> run = {"experiment": "two", "outcome": "converged", "stratum": [1, 1, 2], "singular": True}
    >>> stiff = {"experiment": "two", "outcome": "stiff", "loss": 0.5, "drift": 1e-3}
    >>> runs_sheet([run | {"loss": 1e-20, "drift": 1e-12}, stiff]).tables[0].rows
    (('two', 2, '1 converged, 1 stiff', '1 at (1,1,2)*', '1e-20', '1e-3'),)
    """
    rows = []
    for name in dict.fromkeys(run["experiment"] for run in runs):
        mine = [run for run in runs if run["experiment"] == name]
        limits = [run for run in mine if run["outcome"] == "converged"]
        ends = Counter(run["outcome"] for run in mine).most_common()
        ranks = Counter(ranks_of(run) for run in limits).most_common()
        losses = sorted(run["loss"] for run in limits)
        drifts = [run["drift"] for run in mine if run["drift"] is not None]
        rows.append(
            (
                name,
                len(mine),
                ", ".join(f"{number} {outcome}" for outcome, number in ends),
                ", ".join(f"{number} at {limit}" for limit, number in ranks if limit) or "–",
                f"{losses[len(losses) // 2]:.0e}" if losses else "–",
                _up(max(drifts)) if drifts else "–",
            )
        )
    columns = (Wide("experiment"), "runs", Wide("outcomes"), Wide("limits"), "loss", "drift")
    note = (
        "Limits are at strata (rk V, rk A, rk [V; Aᵀ]), with * at singular ones, or at ranks of A by layer "
        "and head, with the number of runs that converged there. The loss is the median of the runs that "
        "converged, and the drift the largest change of what flow conserves. All numbers are numerical."
    )
    return Sheet("", (Table("", columns, tuple(rows)), Note(note, folded=True)))


def ranks_of(run: Line) -> str:
    """The ranks where a run ended; empty where none are known.

    >>> ranks_of({"stratum": None, "ranks": [[[1, 2], [2, 2]], [[1, 1]]]})
    'rk A = 1,2|1'
    """
    if run["stratum"] is not None:
        return "({},{},{})".format(*run["stratum"]) + ("*" if run["singular"] else "")
    layers = (",".join(str(of_A) for of_A, _ in heads) for heads in run["ranks"] or ())
    return f"rk A = {'|'.join(layers)}" if run["ranks"] else ""


def _up(x: float) -> str:
    """A number rounded up to one digit."""
    if not x:
        return "0"
    unit = 10.0 ** np.floor(log10(x))
    return f"{ceil(x / unit) * unit:.0e}".replace("e-0", "e-")


def check(experiment: Experiment) -> None:
    """Raise an InputError if an experiment cannot be done: for its teacher, or for want of a library."""
    experiment.teacher.check(experiment.architecture, experiment.data)
    if experiment.method == "flow" and find_spec("scipy") is None:
        raise InputError("gradient flow needs scipy; install it with: pip install 'agattn[train]'")
    if experiment.compiled and find_spec("jax") is None:
        raise InputError("compiled needs JAX; install it with: pip install 'agattn[jax]', or leave it out")


@takes("progress")
def train_architecture(
    architecture: Architecture,
    teacher: str | Sequence[int] = "generic",
    *,
    seeds: int | Sequence[int] = 10,
    method: str = "flow",
    samples: int | None = None,
    tokens: str = "gaussian",
    noise: float = 0.0,
    ranks: Sequence[int] | None = None,
    **options: Any,
) -> Training:
    """Train an architecture from several seeds, and place what comes out in the geometry; numerical.

    Args:
        architecture: what is trained; for one lightning layer the loss is that of all Gaussian tokens,
            exactly, unless ``samples`` says how many.
        teacher: ``"generic"``, ``"zariski"``, ``"outside"``, ``"limit"``, ``"ranks"``, or the ranks
            (r_V, r_A, r) of a stratum of one layer.
        seeds: how many, or which.
        method: ``"flow"``, ``"descent"``, ``"langevin"`` or ``"untrained"``.
        samples, tokens, noise: what the loss sees, as
            :class:`agattn.experiments.training.teachers.Data` has it.
        ranks: of A in each layer, for the teacher ``"ranks"``.
        options: ``scale``, ``decay``, ``time``, ``steps``, ``rate`` and ``temperature``, as
            :class:`agattn.experiments.training.experiment.Experiment` has them.

    Raises:
        InputError: if the architecture has no such teacher, an option is unknown or makes no sense, or scipy
            is missing for gradient flow.

    See Also:
        :func:`agattn.critical_points_near`, :func:`agattn.rlct`; ``agattn train`` in a shell.

    >>> import agattn as ag
    >>> runs = ag.train(ag.SingleLayer(2, 1), (1, 1, 2), seeds=3)
    >>> [(run["outcome"], run["stratum"], run["singular"]) for run in runs]
    [('converged', [1, 1, 2], True), ('converged', [1, 1, 2], True), ('converged', [1, 1, 2], True)]
    """
    names = ("scale", "decay", "time", "steps", "rate", "temperature")
    options = {one_of(name, names, "option"): value for name, value in options.items()}
    if isinstance(teacher, str):
        learned = Teacher(teacher, ranks=None if ranks is None else tuple(ranks))
    else:
        triple = is_ranks(teacher) and len(teacher) == 3
        refuse_unless(triple, "the teacher", teacher, "a name, or a triple such as (1, 1, 2)")
        learned = Teacher("stratum", stratum=(teacher[0], teacher[1], teacher[2]))
    data, chosen = Data(samples, tokens, noise), read_seeds(seeds)
    return train(Experiment(architecture, learned, data, method, seeds=chosen, **options))


def train(experiment: Experiment) -> Training:
    """Train from each of the seeds.

    Raises:
        InputError: if the architecture has no such teacher, or scipy is missing for gradient flow.
    """
    check(experiment)
    architecture, seeds, decay = experiment.architecture, experiment.seeds, experiment.decay
    runs: list[Line] = []
    # Seeds with the same teacher go side by side.
    for group in [seeds] if experiment.teacher.seed is not None else [(seed,) for seed in seeds]:
        loss = experiment.teacher.loss(architecture, experiment.data, group[0], experiment.compiled)
        starts = np.stack([start(architecture, experiment.scale, seed) for seed in group])
        paths: Iterable[Path]
        if experiment.method == "flow":
            paths = (flow(loss, theta, experiment.time, decay) for theta in starts)
        elif experiment.method == "untrained":
            paths = (Path(np.zeros(1), theta[None], 0) for theta in starts)
        else:
            steps, rate = experiment.steps, experiment.rate
            paths = descent(loss, starts, steps, rate, decay, experiment.temperature, group)
        for seed, path in zip(group, paths, strict=True):
            runs.append(measure(experiment, seed, loss, path))
            log.info(f"seed {seed}: {runs[-1]['outcome']}")
    return Training(tuple(runs), experiment)


def start(architecture: Architecture, scale: float, seed: int) -> Array:
    """The weights at the start, of length D."""
    draw = np.random.default_rng([seed, 0])
    return scale * draw.standard_normal(architecture.parameters)


# Paths ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Path:
    """Weights at some times.

    Attributes:
        times: n of them, from 0; of descent rate × steps.
        weights: n × D.
        steps: that were taken.
        problem: ``None``, ``"stiff"`` or ``"overflow"``.
    """

    times: Array
    weights: Array
    steps: int
    problem: str | None = None


def flow(loss: TrainingLoss, start: Array, time: float, decay: float = 0.0) -> Path:
    """Gradient flow from some weights, at time 0 and :data:`SNAPSHOTS` times more, evenly spaced in log t.

    The relative tolerance of the solver is that of the loss, the absolute one 1e-3 of it times the largest
    first weight.

    Args:
        loss: L.
        start: D weights.
        time: until when.
        decay: μ.
    """
    from scipy.integrate import ODEintWarning, odeint

    def field(_: float, theta: Array) -> Any:
        return -(loss(theta[None])[1][0] + decay * theta)

    def slope(_: float, theta: Array) -> Any:
        return -(loss.hessian(theta[None])[0] + decay * np.eye(len(theta)))

    times = np.concatenate([[0.0], np.geomspace(max(time * _FIRST, 1e-6), time, SNAPSHOTS)])
    absolute = loss.tolerance * 1e-3 * max(float(np.abs(start).max()), 1e-100)
    limits = {"rtol": loss.tolerance, "atol": absolute, "mxstep": MOST_STEPS}
    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", ODEintWarning)
        weights, report = odeint(field, start, times, Dfun=slope, tfirst=True, full_output=True, **limits)
    good = np.isfinite(weights).all(1) & (np.abs(weights).max(1, initial=0.0) <= LARGEST)
    reached = np.concatenate([[True], report["tcur"] >= times[1:]])
    number = max(1, int(np.argmin(np.append(good & reached, False))))  # the start is kept however large it is
    problem = None
    if number < len(times):
        problem = "stiff" if good[0] and good[number] else "overflow"
    steps = int(report["nst"][max(number - 2, 0)])
    return Path(times[:number], weights[:number], steps, problem)


def descent(
    loss: TrainingLoss,
    starts: Array,
    steps: int,
    rate: float,
    decay: float = 0.0,
    temperature: float = 0.0,
    seeds: Sequence[int] = (),
) -> list[Path]:
    """Gradient descent from S weights side by side; with a temperature T > 0 Langevin dynamics.

    θ ← θ − η∇(L + μ/2 ‖θ‖²) + √(2ηT) N(0, 1), the steps of Euler and Maruyama for the law ∝ e^{−L/T} where
    μ = 0.

    Args:
        loss: L.
        starts: S × D.
        steps: their number.
        rate: η.
        decay: μ.
        temperature: T.
        seeds: of the noise, one for each start; needed where T > 0.

    Returns:
        For each start the first weights and those of at most :data:`SNAPSHOTS` steps, evenly spaced in the
        logarithm of the step.
    """
    noise = [np.random.default_rng([seed, 4]) for seed in seeds]
    kept = sorted({0, *np.geomspace(1, steps, SNAPSHOTS).astype(int).tolist()})
    theta, snapshots = starts, [starts]
    alive, taken, number = np.ones(len(starts), dtype=bool), *np.zeros((2, len(starts)), dtype=int)
    for step in range(1, steps + 1):
        taken += alive
        with np.errstate(over="ignore", invalid="ignore"):
            moved = theta - rate * (loss(theta)[1] + decay * theta)
            if temperature:
                kicks = np.stack([draw.standard_normal(theta.shape[1]) for draw in noise])
                moved += np.sqrt(2 * rate * temperature) * kicks
            alive &= np.abs(moved).max(1) <= LARGEST  # False for what is not a number
        theta = np.where(alive[:, None], moved, theta)
        if not alive.any():
            break
        if step in kept:
            snapshots.append(theta)
            number += alive
    weights = np.array(snapshots)
    times = rate * np.array(kept, dtype=float)
    return [
        Path(times[: n + 1], weights[: n + 1, i], int(taken[i]), None if alive[i] else "overflow")
        for i, n in enumerate(number)
    ]


def growth(path: Path) -> tuple[float, float, float]:
    """d log‖θ‖ / d log t over the last ten-fold of time, over the ten-fold before it, and before that."""
    t, norm = path.times[1:], np.linalg.norm(path.weights[1:], axis=1)

    def slope(first: float, last: float) -> float:
        low, high = np.interp(np.log([first, last]), np.log(t), np.log(norm))
        return float((high - low) / np.log(last / first))

    if len(t) < 2:
        return 0.0, 0.0, 0.0
    end = float(t[-1])
    return slope(end / 10, end), slope(end / 100, end / 10), slope(end / 1000, end / 100)


# What a run says --------------------------------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # weights that overflow are divergence, as the outcome says
def measure(experiment: Experiment, seed: int, loss: TrainingLoss, path: Path) -> Line:
    """The line of a run."""
    architecture, decay, last = experiment.architecture, experiment.decay, path.weights[-1]
    losses, slopes = loss(path.weights)
    gradients = np.linalg.norm(slopes + decay * path.weights, axis=1)
    norms = np.linalg.norm(path.weights, axis=1)
    drifted = drift(architecture, path.weights, path.times, decay)
    outcome = outcome_of(experiment, path, losses, gradients[-1], drifted)
    line: Line = {}
    if outcome not in ("diverged", "stiff"):
        line = _ranks(architecture, last) | _strata(architecture, path)
    if outcome == "converged":
        line |= _hessian(loss, last, decay)
    network = architecture.as_network()
    if network is not None:
        line["fiber_dimension"] = architecture.parameters - network_dimension(network)
        if not network.is_lightning:
            line["scores_seen"] = None
            if outcome not in ("diverged", "stiff"):
                seen = sensitivities(network, as_parameters(network, last))
                line["scores_seen"] = None if seen is None else [float(f"{x:.3g}") for x in seen]
    ratios = [
        _short(np.min([_second_singular_value(A) for A, _ in heads], axis=0))
        for heads in heads_of(architecture, path.weights)
    ]
    return TrainedRun(
        experiment=experiment.name,
        seed=seed,
        outcome=outcome,
        steps=path.steps,
        time=float(path.times[-1]),
        loss=float(losses[-1]),
        gradient=float(gradients[-1]),
        norm=float(norms[-1]),
        growth=None if experiment.method == "untrained" else round(growth(path)[0], 5),
        drift=float(f"{drifted:.3g}"),
        diverged=outcome == "diverged",
        history=History(
            time=_short(path.times),
            loss=_short(losses),
            gradient=_short(gradients),
            norm=_short(norms),
            second_singular_value=ratios or UNSET,
        ),
        **line,
    ).as_json()


def outcome_of(experiment: Experiment, path: Path, losses: Array, gradient: float, drifted: float) -> Any:
    """How a run ended, of whose objective the last gradient has this norm."""
    if experiment.method == "untrained":
        return "untrained"
    if path.problem is not None:
        return "diverged" if path.problem == "overflow" else path.problem
    if experiment.method == "flow" and drifted > DRIFT:
        return "stiff"
    if experiment.method == "langevin":
        return "sampled"
    # The gradient is small on the way to infinity as well: weights and loss stand still.
    (before, last), (high, low) = path.weights[-2:], losses[-2:]
    still = np.linalg.norm(last - before) <= REST * np.linalg.norm(last)
    if gradient <= SMALL and still and (low >= 0.99 * high or low <= _ROUNDING):
        return "converged"
    rates = growth(path)
    falls = len(path.times) > 2 and losses[-1] < losses[len(path.times) // 2]
    steady = min(rates) >= _GROWTH and max(rates) <= _STEADY * min(rates)
    return "diverged" if falls and steady else "unfinished"


def heads_of(architecture: Architecture, theta: Array) -> list[list[tuple[Array, Array]]]:
    """(A, V) of every head of every layer, each with the axes in front of ``theta``; none of models."""
    network = architecture.as_network()
    if network is None or network.value_rank is not None:
        return []
    parameters = as_parameters(network, theta)
    layers = []
    for i, number in enumerate(network.heads_by_layer, 1):
        K, Q, V = (parameters[f"{letter}_{i}"] for letter in "KQV")
        A = K.swapaxes(-1, -2) @ Q
        layers.append([(A[..., h, :, :], V[..., h, :, :]) for h in range(number)])
    return layers


def _ranks(architecture: Architecture, theta: Array) -> Line:
    """Ranks [rk A, rk V], stable ranks and singular values of every head, by layer."""
    line: Line = {}
    for heads in heads_of(architecture, theta):
        rows: Line = {"ranks": [], "stable_ranks": [], "singular_values": []}
        for pair in heads:
            of_A, of_V = sigmas = [np.linalg.svd(M, compute_uv=False) for M in pair]
            nothing = of_A[0] * of_V[0] <= _NOTHING
            rows["ranks"].append([0 if nothing else int((s > TOLERANCE * s[0]).sum()) for s in sigmas])
            stable = [(s**2).sum() / s[0] ** 2 if s[0] else 0.0 for s in sigmas]
            rows["stable_ranks"].append([round(float(x), 6) for x in stable])
            rows["singular_values"].append([[float(f"{x:.6g}") for x in s] for s in sigmas])
        for name, row in rows.items():
            line.setdefault(name, []).append(row)
    return line


def watched(layer: SingleLayer) -> list[Stratum]:
    """The strata whose distances are measured: the singular ones, without 0, and the boundary (1,1,1)."""
    return [s for s in strata(layer) if not s.is_zero and (singular_by_ranks(layer, s) or s.r == 1)]


def _strata(architecture: Architecture, path: Path) -> Line:
    """The stratum of the last weights, its kind, and distances to the others: at the end, and the least."""
    layer = single_layer(architecture)
    if layer is None:
        return {}
    K, Q, V = as_parameters(layer, path.weights).values()
    A = K.swapaxes(1, 2) @ Q
    stratum = Stratum(0, 0, 0)
    if np.linalg.norm(A[-1], 2) * np.linalg.norm(V[-1], 2) > _NOTHING:
        head = head_geometry(K[-1], Q[-1], V[-1], TOLERANCE)
        stratum = Stratum(head.r_v, head.r_a, head.r)
    distances, nearest = {}, {}
    for other in watched(layer):
        lower, upper = distance_bounds(A, V, other)
        least = np.argmin(upper)
        distances[str(other)] = _short([lower[-1], upper[-1]])
        nearest[str(other)] = _short([upper[least], path.times[least]])
    return {
        "stratum": stratum,
        "singular": singular_by_ranks(layer, stratum),
        "boundary": layer.d >= 2 and (stratum.is_zero or stratum == Stratum(1, 1, 1)),
        "distances": distances,
        "nearest": nearest,
    }


def _hessian(loss: TrainingLoss, theta: Array, decay: float) -> Line:
    """Zero and negative eigenvalues at a limit point, and the smallest and largest of the others."""
    values = np.linalg.eigvalsh(loss.hessian(theta[None])[0] + decay * np.eye(len(theta)))
    rest = values[np.abs(values) > _FLAT * np.abs(values).max()]
    return {
        "hessian_zeros": len(values) - len(rest),
        "hessian_negative": int((rest < 0).sum()),
        "hessian": _short([np.abs(rest).min(), np.abs(rest).max()]) if len(rest) else [],
    }


def _second_singular_value(A: Array) -> Array:
    """σ₂/σ₁ of each matrix of a stack; NaN for a matrix with entries beyond the floating-point numbers."""
    # Of such a matrix some LAPACKs return NaN, and others raise an error.
    finite = np.asarray(np.isfinite(A).all(axis=(1, 2)))
    sigma = np.linalg.svd(np.where(finite[:, None, None], A, 0), compute_uv=False)
    top = np.where(sigma[:, 0] > 0, sigma[:, 0], 1.0)
    second = sigma[:, 1] / top if sigma.shape[1] > 1 else 0 * top
    return np.where(finite, second, np.nan)


def _short(values: Iterable[float]) -> list[float]:
    return [float(f"{x:.4g}") for x in values]


# As jobs of a study -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TrainingJob(Job):
    """Some seeds of an experiment, as one job of a study."""

    experiment: Experiment

    @property
    def settings(self) -> dict[str, Any]:
        """The experiment without its name, and the seeds."""
        return {"ask": self.ask, **self.experiment.as_json(), "seeds": list(self.experiment.seeds)}

    def answer(self) -> tuple[dict[str, Any], int, bool]:
        """The lines of the runs; the status is 3 if one of them was too stiff to be followed."""
        runs = [{**run, "experiment": ""} for run in train(self.experiment)]
        return {"runs": runs}, 3 if any(run["outcome"] == "stiff" for run in runs) else 0, False


def training_jobs(experiments: Sequence[Experiment]) -> list[TrainingJob]:
    """The jobs of some experiments, in order, with a few seeds in each."""
    jobs = []
    for experiment in experiments:
        size = CHUNK if experiment.data.samples is None or experiment.method != "flow" else CHUNK_OF_SAMPLES
        for first in range(0, len(experiment.seeds), size):
            part = replace(experiment, seeds=experiment.seeds[first : first + size])
            jobs.append(TrainingJob(part.architecture, "train", experiment=part))
    return jobs
