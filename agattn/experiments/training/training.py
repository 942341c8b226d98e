r"""Train, and say where the weights went: strata, ranks, distances, conserved quantities, the Hessian.

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
>>> from agattn.experiments.training.experiment import Experiment
>>> training = train(Experiment(SingleLayer(2, 1), seeds=(0, 1), time=1e4))
>>> print(training[0]["outcome"], training[0]["loss"] < 1e-20, max(run["drift"] for run in training) < 1e-10)
converged True True
>>> [(run["stratum"], run["hessian_zeros"], run["fiber_dimension"]) for run in training]
[([1, 2, 2], 5, 5), ([1, 2, 2], 5, 5)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import ceil, log10
from typing import Any, Literal, overload

import numpy as np

from agattn.algebra.scalars import Array
from agattn.architectures import Architecture, SingleLayer
from agattn.architectures.protocol import as_parameters
from agattn.calls import is_ranks, one_of, shown
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.experiments.studies.jobs import Job
from agattn.experiments.training.conserved import drift
from agattn.experiments.training.experiment import Experiment, read_seeds
from agattn.experiments.training.losses import TrainingLoss, single_layer
from agattn.experiments.training.paths import Path, descent, flow, growth, kept_values
from agattn.experiments.training.teachers import Data, Teacher
from agattn.geometry.dimension.formulas import network_dimension
from agattn.geometry.identifiability.softmax import sensitivities
from agattn.geometry.strata.strata import Stratum, distance_bounds, singular_by_ranks, strata
from agattn.heads.head_geometry import head_geometry
from agattn.limits import log, takes
from agattn.sheet.data import Note, Sheet, Table, Wide
from agattn.sheet.result import UNSET, Count, Described, Key, Number, Result, UnsetType

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


class TrainedRun(Result, name="train"):
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
    ranks: Key[list[list[list[Count]]] | None, "[rk A, rk V] to tolerance, by layer and head."]
    stable_ranks: Key[Heads | None, "The stable ranks of A and V, by layer and head."]
    singular_values: Key[list[Heads] | None, "The singular values of A and V, by layer and head."]
    stratum: Key[Stratum | None, "[rk V, rk A, rk [V; Aᵀ]] of one layer of one head."]
    singular: Key[bool | None, "Whether the stratum is singular."]
    boundary: Key[bool | None, "Whether the stratum is on the boundary of M."]
    distances: Key[
        dict[str, list[Number]] | None, "Bounds on the relative distance of φ to the closures of strata."
    ]
    nearest: Key[
        dict[str, list[Number]] | None,
        "The least upper bound on each of these distances during the run, and its time.",
    ]
    fiber_dimension: Key[Count | None, "The number of parameters less dim M, by the formula for dim M."]
    hessian_zeros: Key[Count | None, "Zero eigenvalues of the Hessian at a limit point."]
    hessian_negative: Key[Count | None, "Negative eigenvalues of the Hessian at a limit point."]
    hessian: Key[
        list[Number] | None, "The smallest and the largest absolute value of eigenvalues that are not zero."
    ]
    history: Key[History, "The run at times evenly spaced in log t."]
    scores_seen: Key[
        list[float] | UnsetType | None,
        "Of a softmax network with one head in each layer, at the weights where the run ends: the largest "
        "singular value of the differential in the scores M_i of each layer, divided by that in L. Below "
        "1e-12 the scores are not seen.",
    ] = UNSET


@dataclass(frozen=True, eq=False, repr=False)
class Training(Described, Sequence[Line]):
    """The runs of an experiment, a JSON-ready line for each seed."""

    experiment: Experiment
    runs: tuple[Line, ...]
    evidence: Evidence = Evidence.NUMERICAL

    @overload
    def __getitem__(self, n: int) -> Line: ...

    @overload
    def __getitem__(self, n: slice) -> tuple[Line, ...]: ...

    def __getitem__(self, n: int | slice) -> Line | tuple[Line, ...]:
        return self.runs[n]

    def __len__(self) -> int:
        return len(self.runs)

    def as_json(self) -> list[Line]:  # type: ignore[override]  # JSON Lines are no one document
        """The lines."""
        return list(self.runs)

    def sheet(self) -> Sheet:
        """A row for each seed."""
        rows = tuple(
            (
                run["seed"],
                run["outcome"],
                f"{run['loss']:.3g}",
                f"{run['norm']:.3g}",
                "–" if run["stratum"] is None else "({},{},{})".format(*run["stratum"]),
                "–" if run["hessian_zeros"] is None else run["hessian_zeros"],
                f"{run['drift']:.1e}",
            )
            for run in self
        )
        columns = ("seed", "outcome", "loss", "‖θ‖", "stratum", "Hessian zeros", "drift")
        return Sheet(str(self), (Table(str(self), columns, rows),))

    def summary(self) -> str:
        """How many runs ended in which way."""
        ends = Counter(run["outcome"] for run in self.runs)
        told = ", ".join(f"{number} {word}" for word, number in ends.most_common())
        drifts = [run["drift"] for run in self.runs if run["drift"] is not None]
        most = f"; drift at most {_up(max(drifts))}" if drifts and self.experiment.method == "flow" else ""
        return f"{self.experiment}: {len(self)} runs, {told}{most} ({self.evidence})"


#: What the table of an experiment needs of a run: experiment, outcome, stratum, loss, drift.
RunEnd = tuple[str, str, Sequence[int] | None, float, float | None]


def runs_sheet(runs: Sequence[RunEnd]) -> Sheet:
    """A row for each experiment of a file: how its runs ended, and in which strata the limit points lie.

    >>> runs = [("two", "converged", [1, 1, 2], 1e-20, 1e-12), ("two", "stiff", None, 0.5, 1e-3)]
    >>> runs_sheet(runs).tables[0].rows
    (('two', 2, '1 converged, 1 stiff', '(1,1,2) 1', '1e-20', '1e-3'),)
    """
    rows = []
    for name in dict.fromkeys(run[0] for run in runs):
        mine = [run for run in runs if run[0] == name]
        ends = Counter(outcome for _, outcome, *_ in mine).most_common()
        limits = [run for run in mine if run[1] == "converged"]
        strata = Counter("({},{},{})".format(*run[2]) for run in limits if run[2] is not None).most_common()
        losses = sorted(run[3] for run in limits)
        drifts = [run[4] for run in mine if run[4] is not None]
        rows.append(
            (
                name,
                len(mine),
                ", ".join(f"{number} {word}" for word, number in ends),
                ", ".join(f"{place} {number}" for place, number in strata) or "–",
                f"{losses[len(losses) // 2]:.0e}" if losses else "–",
                _up(max(drifts)) if drifts else "–",
            )
        )
    columns = (
        Wide("experiment"),
        "runs",
        Wide("outcomes"),
        Wide("strata of limits"),
        "loss",
        "drift",
    )
    note = (
        "Strata are (rk V, rk A, rk [V; Aᵀ]), with the number of runs that converged there. The loss is the "
        "median of the runs that converged, and the drift the largest of all runs. All numbers are numerical."
    )
    return Sheet("", (Table("", columns, tuple(rows)), Note(note, folded=True)))


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
        :func:`agattn.critical_points_near`, :func:`agattn.rlct`, :func:`agattn.calibrate`; ``agattn train``
        in a shell.

    >>> import agattn as ag
    >>> found = ag.train(ag.SingleLayer(2, 1), (1, 1, 2), seeds=3)
    >>> [(run["outcome"], run["stratum"], run["singular"]) for run in found]
    [('converged', [1, 1, 2], True), ('converged', [1, 1, 2], True), ('converged', [1, 1, 2], True)]
    """
    known = ("scale", "decay", "time", "steps", "rate", "temperature")
    options = {one_of(name, known, "option"): value for name, value in options.items()}
    if isinstance(teacher, str):
        learned = Teacher(teacher, ranks=None if ranks is None else tuple(ranks))
    else:
        if not is_ranks(teacher) or len(teacher) != 3:
            raise InputError(
                f"the teacher is {shown(teacher)}; it must be a name, or a triple such as (1, 1, 2)"
            )
        learned = Teacher("stratum", stratum=(teacher[0], teacher[1], teacher[2]))
    chosen = read_seeds(list(seeds) if isinstance(seeds, Iterable) and not isinstance(seeds, str) else seeds)
    experiment = Experiment(
        architecture,
        learned,
        Data(samples, tokens, noise),
        method,
        seeds=chosen,
        **options,
    )
    return train(experiment, lambda line: log.info(f"seed {line['seed']}: {line['outcome']}"))


def train(experiment: Experiment, finished: Callable[[Line], None] = lambda _: None) -> Training:
    """Train from each of the seeds.

    Args:
        experiment: what, on what, how, and from which seeds.
        finished: called with each line.

    Raises:
        InputError: if the architecture has no such teacher, or scipy is missing for gradient flow.
    """
    check(experiment)
    lines = []
    for line in _runs(experiment):
        finished(line)
        lines.append(line)
    return Training(experiment, tuple(lines))


def start(architecture: Architecture, scale: float, seed: int) -> Array:
    """The weights at the start, of length D."""
    draw = np.random.default_rng([seed, 0])
    found: Array = scale * draw.standard_normal(architecture.parameters)
    return found


def _runs(experiment: Experiment) -> Iterator[Line]:
    architecture = experiment.architecture
    if experiment.method in ("flow", "untrained"):
        for seed in experiment.seeds:
            loss = experiment.teacher.loss(architecture, experiment.data, seed, experiment.compiled)
            first = start(architecture, experiment.scale, seed)
            if experiment.method == "flow":
                path = flow(loss, first, experiment.time, experiment.decay)
            else:
                path = Path(np.zeros(1), first[None], 0)
            yield measure(experiment, seed, loss, path)
        return
    # Seeds with the same teacher go side by side.
    groups = [experiment.seeds] if experiment.teacher.seed is not None else [(n,) for n in experiment.seeds]
    for seeds in groups:
        loss = experiment.teacher.loss(architecture, experiment.data, seeds[0])
        starts = np.stack([start(architecture, experiment.scale, seed) for seed in seeds])
        paths = descent(
            loss, starts, experiment.steps, experiment.rate, experiment.decay, experiment.temperature, seeds
        )
        for seed, path in zip(seeds, paths, strict=True):
            yield measure(experiment, seed, loss, path)


@np.errstate(over="ignore", invalid="ignore")  # weights that overflow are divergence, as the outcome says
def measure(experiment: Experiment, seed: int, loss: TrainingLoss, path: Path) -> Line:
    """The line of a run."""
    architecture, decay = experiment.architecture, experiment.decay
    kept = kept_values(loss, path, decay)
    drifted = drift(architecture, path.weights[0], path.weights, path.times, decay)
    outcome = _outcome(experiment, path, kept, drifted)
    trusted = outcome not in ("diverged", "stiff")
    last = path.weights[-1]
    return TrainedRun(
        experiment=experiment.name,
        seed=seed,
        outcome=outcome,
        steps=path.steps,
        time=float(path.times[-1]),
        loss=float(kept["loss"][-1]),
        gradient=float(kept["gradient"][-1]),
        norm=float(kept["norm"][-1]),
        growth=None if experiment.method == "untrained" else round(growth(path)[0], 5),
        drift=float(f"{drifted:.3g}"),
        diverged=outcome == "diverged",
        **_heads(architecture, last, trusted),
        **_strata(architecture, path, trusted),
        fiber_dimension=fiber_dimension(architecture),
        **_hessian(loss, last, decay, outcome == "converged"),
        history=_history(architecture, path, kept),
        scores_seen=_scores_seen(architecture, last, trusted),
    ).as_json()


def _scores_seen(architecture: Architecture, last: Array, trusted: bool) -> list[float] | UnsetType | None:
    network = architecture.as_network()
    if network is None or network.is_lightning:
        return UNSET
    found = sensitivities(network, as_parameters(network, last)) if trusted else None
    return None if found is None else [float(f"{x:.3g}") for x in found]


def _outcome(experiment: Experiment, path: Path, kept: dict[str, Array], drifted: float) -> Any:
    if experiment.method == "untrained":
        return "untrained"
    if path.problem is not None:
        return "diverged" if path.problem == "overflow" else path.problem
    if experiment.method == "flow" and drifted > DRIFT:
        return "stiff"
    if experiment.method == "langevin":
        return "sampled"
    if kept["gradient"][-1] <= SMALL and _at_rest(path, kept["loss"]):
        return "converged"
    rates = growth(path)
    falls = len(path.times) > 2 and kept["loss"][-1] < kept["loss"][len(path.times) // 2]
    steady = min(rates) >= _GROWTH and max(rates) <= _STEADY * min(rates)
    return "diverged" if falls and steady else "unfinished"


def _at_rest(path: Path, losses: Array) -> bool:
    """Whether weights and loss stand still: the gradient is small on the way to infinity as well."""
    (before, last), (high, low) = path.weights[-2:], losses[-2:]
    still = float(np.linalg.norm(last - before)) <= REST * float(np.linalg.norm(last))
    return still and bool(low >= 0.99 * high or low <= _ROUNDING)


def fiber_dimension(architecture: Architecture) -> int | None:
    """D − dim M for a layer and for networks of attention, by the formula for dim M; else ``None``."""
    network = architecture.as_network()
    return None if network is None else architecture.parameters - network_dimension(network)


def heads_of(architecture: Architecture, theta: Array) -> list[list[tuple[Array, Array]]] | None:
    """(A, V) of every head of every layer, each with the axes in front of ``theta``; ``None`` for models."""
    network = architecture.as_network()
    if network is None or network.value_rank is not None:
        return None
    parameters = as_parameters(network, theta)
    found = []
    for i, number in enumerate(network.heads_by_layer, 1):
        K, Q, V = (parameters[f"{letter}_{i}"] for letter in "KQV")
        A = K.swapaxes(-1, -2) @ Q
        found.append([(A[..., h, :, :], V[..., h, :, :]) for h in range(number)])
    return found


def _heads(architecture: Architecture, theta: Array, trusted: bool) -> Line:
    """Ranks [rk A, rk V], stable ranks and singular values of every head, by layer."""
    layers = heads_of(architecture, theta)
    names = ("ranks", "stable_ranks", "singular_values")
    if layers is None or not trusted:
        return dict.fromkeys(names)
    line: Line = {name: [] for name in names}
    for heads in layers:
        rows: dict[str, list[Any]] = {name: [] for name in names}
        for pair in heads:
            sigmas = [np.linalg.svd(M, compute_uv=False) for M in pair]
            nothing = sigmas[0][0] * sigmas[1][0] <= _NOTHING
            rows["ranks"].append([0 if nothing else int((s > TOLERANCE * s[0]).sum()) for s in sigmas])
            rows["stable_ranks"].append(
                [round(float((s**2).sum() / s[0] ** 2), 6) if s[0] else 0.0 for s in sigmas]
            )
            rows["singular_values"].append([[float(f"{x:.6g}") for x in s] for s in sigmas])
        for name in names:
            line[name].append(rows[name])
    return line


def watched(layer: SingleLayer) -> list[Stratum]:
    """The strata whose distances are measured: the singular ones, without 0, and the boundary (1,1,1)."""
    return [s for s in strata(layer) if not s.is_zero and (singular_by_ranks(layer, s) or s.r == 1)]


def _strata(architecture: Architecture, path: Path, trusted: bool) -> Line:
    """The stratum of the last weights, its kind, and distances to the others: at the end, and the least."""
    layer = single_layer(architecture)
    names = ("stratum", "singular", "boundary", "distances", "nearest")
    if layer is None or not trusted:
        return dict.fromkeys(names)
    parameters = as_parameters(layer, path.weights)
    K, Q, V = (parameters[name] for name in "KQV")
    A = K.swapaxes(1, 2) @ Q
    sizes = np.linalg.norm(A[-1], 2) * np.linalg.norm(V[-1], 2)
    at = Stratum(0, 0, 0)
    if sizes > _NOTHING:
        head = head_geometry(K[-1], Q[-1], V[-1], TOLERANCE)
        at = Stratum(head.r_v, head.r_a, head.r)
    degenerate = at.is_zero or at == Stratum(1, 1, 1)
    distances, nearest = {}, {}
    for stratum in watched(layer):
        lower, upper = distance_bounds(A, V, stratum)
        distances[str(stratum)] = [_short(lower[-1]), _short(upper[-1])]
        least = int(np.argmin(upper))
        nearest[str(stratum)] = [_short(upper[least]), float(f"{path.times[least]:.4g}")]
    return {
        "stratum": at,
        "singular": singular_by_ranks(layer, at),
        "boundary": layer.d >= 2 and degenerate,
        "distances": distances,
        "nearest": nearest,
    }


def _hessian(loss: TrainingLoss, theta: Array, decay: float, converged: bool) -> Line:
    """Zero and negative eigenvalues at a limit point, and the smallest and largest of the others."""
    names = ("hessian_zeros", "hessian_negative", "hessian")
    if not converged:
        return dict.fromkeys(names)
    values = np.linalg.eigvalsh(loss.hessian(theta[None])[0] + decay * np.eye(len(theta)))
    flat = np.abs(values) <= _FLAT * np.abs(values).max()
    rest = np.abs(values[~flat])
    spectrum = [_short(rest.min()), _short(rest.max())] if len(rest) else []
    return {
        "hessian_zeros": int(flat.sum()),
        "hessian_negative": int((values[~flat] < 0).sum()),
        "hessian": spectrum,
    }


def _history(architecture: Architecture, path: Path, kept: dict[str, Array]) -> History:
    """Loss, gradient and norm at the snapshots, and σ₂/σ₁ of A for every layer: of its least head."""
    times = [float(f"{t:.4g}") for t in path.times]
    losses, gradients, norms = ([_short(x) for x in kept[name]] for name in ("loss", "gradient", "norm"))
    history = History(times, losses, gradients, norms)
    layers = heads_of(architecture, path.weights)
    if layers is not None:
        ratios = []
        for heads in layers:
            ratios.append([_short(x) for x in np.min([_second_singular_value(A) for A, _ in heads], axis=0)])
        history = history.replace(second_singular_value=ratios)
    return history


def _second_singular_value(A: Array) -> Array:
    """σ₂/σ₁ of each matrix of a stack; NaN for a matrix with entries beyond the floating-point numbers."""
    # Of such a matrix some LAPACKs return NaN, and others raise an error.
    finite = np.asarray(np.isfinite(A).all(axis=(1, 2)))
    known = np.where(finite[:, None, None], A, 0)
    sigma = np.linalg.svd(known, compute_uv=False)
    top = np.where(sigma[:, 0] > 0, sigma[:, 0], 1.0)
    second = sigma[:, 1] / top if sigma.shape[1] > 1 else 0 * top
    return np.where(finite, second, np.nan)


def _short(x: float) -> float:
    return float(f"{float(x):.4g}")


# As jobs of a study -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainingJob(Job):
    """Some seeds of an experiment, as one job of a study."""

    experiment: Experiment | None = None

    @property
    def name(self) -> str:
        """The name of the experiment; the key of a finished job does not contain it."""
        return "" if self.experiment is None else self.experiment.name

    @property
    def settings(self) -> dict[str, Any]:
        """The experiment without its name, and the seeds."""
        assert self.experiment is not None
        return {"ask": self.ask, **self.experiment.as_json(), "seeds": list(self.experiment.seeds)}

    def answer(self) -> tuple[dict[str, Any], int, bool]:
        """The lines of the runs; the status is 3 if one of them was too stiff to be followed."""
        assert self.experiment is not None
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
