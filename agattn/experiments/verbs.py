"""The verbs that sample, train, or ask one question many times."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agattn.architectures import Architecture, SingleLayer
from agattn.calls import is_ranks, positive_integer, shown
from agattn.errors import InputError, nearest
from agattn.files import read_text
from agattn.patience import Progress, silent

if TYPE_CHECKING:
    from agattn.experiments.calibration.calibration import Calibration
    from agattn.experiments.studies.atlas import PointsGroup, Survey
    from agattn.experiments.studies.audit import Audit
    from agattn.experiments.studies.jobs import Line
    from agattn.experiments.training.training import Training


def train(
    architecture: Architecture,
    teacher: str | Sequence[int] = "generic",
    *,
    seeds: int | Sequence[int] = 10,
    method: str = "flow",
    samples: int | None = None,
    tokens: str = "gaussian",
    noise: float = 0.0,
    ranks: Sequence[int] | None = None,
    progress: Progress = silent,
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
        progress: called with what is done next.
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
    from agattn.experiments.training.experiment import Experiment, read_seeds
    from agattn.experiments.training.teachers import Data, Teacher
    from agattn.experiments.training.training import train as train_experiment

    known = ("scale", "decay", "time", "steps", "rate", "temperature")
    for name in options:
        if name not in known:
            listed = f"; there are {', '.join(known)}"
            raise InputError(f"there is no option {name!r}{nearest(name, known, listed)}")
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
        architecture, learned, Data(samples, tokens, noise), method, seeds=chosen,
        **options,
    )  # fmt: skip
    return train_experiment(experiment, lambda line: progress(f"seed {line['seed']}: {line['outcome']}"))


def study(
    grid: str | Path,
    *,
    workers: int = 1,
    part: str | None = None,
    keep: str | Path | None = None,
    fresh: bool = False,
    retry_undecided: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    seed: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> tuple[Line, ...]:
    r"""Ask one question, or several, about all architectures of a grid.

    Args:
        grid: the path of a TOML file, or its text; ``agattn study --example`` prints one.
        workers: processes on this machine; 1 means this process alone.
        part: ``"K/N"``: only every N-th job, from the K-th on.
        keep: a folder in which finished jobs are kept and looked up; nothing is kept by default.
        fresh: look nothing up, but keep what is done.
        retry_undecided: do again what was undecided, or not proved.
        timeout, memory, seed: instead of those of the grid.
        force: go beyond the limits on the number of jobs and on their size.
        progress: called with each architecture when its job is done.

    Returns:
        The lines, as the command prints them, in the order of the jobs.

    Raises:
        InputError: if the grid cannot be read or used, or the folder cannot be written.

    See Also:
        :func:`agattn.audit`, :func:`agattn.atlas`, :func:`agattn.report`; ``agattn study`` in a shell.

    >>> import agattn as ag
    >>> [line] = ag.study('ask = "strata"\n[layers]\nd = 2\nd_out = 1\na = 2\n')
    >>> line["result"]["dimension"], line["status"]
    (5, 0)
    """
    from agattn.experiments.studies import study as room
    from agattn.experiments.studies.cache import Cache
    from agattn.experiments.studies.grid import read_grid
    from agattn.experiments.studies.workers import in_this_process, local_processes

    given = {"timeout": timeout, "memory": memory, "seed": seed}
    text = grid if isinstance(grid, str) and "\n" in grid else read_text(Path(grid))  # a path has one line
    wanted = read_grid(text, {k: value for k, value in given.items() if value is not None}, force)
    jobs = wanted.jobs if part is None else wanted.part(part)
    place = functools.partial(local_processes, workers) if workers > 1 else in_this_process
    return tuple(room.study(
        jobs, None, place, None if keep is None else Cache(Path(keep)),
        fresh=fresh, retry_open=retry_undecided, force=force,
        finished=lambda line: progress(str(line["architecture"])),
    ))  # fmt: skip


def audit(
    max_d: int = 4,
    max_out: int = 4,
    claims: str | Sequence[str] = (),
    *,
    force: bool = False,
    progress: Progress = silent,
) -> Audit:
    """Put every claim to all layers up to a size, natively: a table, and the pattern of where each fails.

    Args:
        max_d: the largest embedding dimension d; a goes up to it.
        max_out: the largest output dimension d'.
        claims: ids, or beginnings of some; none for all.
        force: go beyond the limit on the size of systems.
        progress: called with each layer when it is done.

    Raises:
        InputError: if a bound is no positive whole number, or there is no such claim.
        TooLargeError: beyond the limit on sizes.

    See Also:
        :func:`agattn.verify`, :func:`agattn.atlas`, :func:`agattn.study`; ``agattn audit`` in a shell.

    >>> import agattn as ag
    >>> ag.audit(2, 1, "corollary-3.3").exit_status
    0
    """
    from agattn.experiments.studies import audit as room
    from agattn.systems.sizes import check_size

    largest = SingleLayer(positive_integer("max_d", max_d), positive_integer("max_out", max_out))
    if not force:
        check_size(largest)
    chosen = (claims,) if isinstance(claims, str) else claims
    return room.audit(largest.d, largest.d_out, chosen, progress)


def atlas(
    max_width: int = 5,
    max_depth: int = 3,
    max_heads: int = 3,
    limit: int = 400,
    *,
    points: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Survey, ...] | tuple[PointsGroup, ...]:
    """Survey small networks: where equation 14, the general formula and the multi-head bounds are met.

    Args:
        max_width: the largest width.
        max_depth: the most layers.
        max_heads: the most heads.
        limit: how many networks are drawn from a family that has more.
        points: survey kinds of critical and singular points of some networks instead.
        seed: of all random choices.
        progress: called with each family that is next.

    Raises:
        InputError: if a bound is no positive whole number.

    See Also:
        :func:`agattn.audit`, :func:`agattn.study`, :func:`agattn.dimension`, :func:`agattn.singularities`;
        ``agattn atlas`` in a shell.

    >>> import agattn as ag
    >>> first, *_ = ag.atlas(max_width=1, max_depth=1, max_heads=1)
    >>> first.family.title, first.proved
    ('1 layer, 1 head, t = 2, widths up to 1', 1)
    """
    from agattn.experiments.studies import atlas as room

    if points:
        groups = []
        for title, networks in room.POINTS.items():
            progress(f"{title}: {len(networks)} networks")
            groups.append(room.points_group(title, seed))
        return tuple(groups)
    width, depth, heads, most = (
        positive_integer(name, bound)
        for name, bound in (
            ("max_width", max_width), ("max_depth", max_depth), ("max_heads", max_heads), ("limit", limit),
        )
    )  # fmt: skip
    surveys = []
    for family in room.standard_families(width, depth, heads, most, seed):
        progress(f"{family.title}: {len(family.networks)} networks")
        surveys.append(room.survey(family, seed))
    return tuple(surveys)


def calibrate(
    count: int = 0,
    *,
    quick: bool = False,
    devinterp: bool = False,
    free_energy: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    written: Callable[[dict[str, Any]], None] | None = None,
) -> Calibration:
    """The 100 weights with known learning coefficients λ, and λ estimated by sampling at some of them.

    Args:
        count: at how many of the weights λ is estimated, the first ones.
        quick: with few samples, so that errors are several percent.
        devinterp: run devinterp, too; this needs the extra ``slt``.
        free_energy: only slopes of free energies in log n.
        seed: of all random choices.
        progress: called with what is done next.
        written: called with each estimate as soon as it is there.

    Returns:
        The points and the estimates; also a mapping with the lists ``"points"`` and ``"estimates"``, as the
        command prints them with ``--json``.

    Raises:
        InputError: if devinterp is asked for and missing.

    See Also:
        :func:`agattn.rlct`, :func:`agattn.train`; ``agattn calibrate`` in a shell.

    >>> import agattn as ag
    >>> found = ag.calibrate()
    >>> len(found["points"]), found["estimates"]
    (100, [])
    """
    from agattn.experiments.calibration import calibration as room
    from agattn.experiments.calibration.langevin import require_devinterp
    from agattn.experiments.calibration.points import calibration_points

    if devinterp:
        require_devinterp()
    known = calibration_points()
    lines = []
    for line in room.calibrate(
        known[:count], quick=quick, devinterp=devinterp, free_energy=free_energy, seed=seed, tell=progress
    ):
        lines.append(line)
        if written is not None:
            written(line)
    return room.Calibration(known, tuple(lines))
