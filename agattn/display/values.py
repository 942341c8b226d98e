"""How each type of result is shown: its tables.

>>> from agattn import SingleLayer
>>> [table] = tables(SingleLayer(3, 2, 2))
>>> [(row[0], row[2]) for row in table.rows][-2:]
[('coordinates of the ambient space', 36), ('dimension by HMK, Corollary 3.3', 13)]
"""

from __future__ import annotations

from functools import singledispatch

from agattn.algebra.arithmetic import Array
from agattn.algebra.polynomial import Variable
from agattn.algebra.rank import RankResult
from agattn.claims.network_dimension import by_paper
from agattn.evidence import Evidence, weakest
from agattn.experiments.training.training import Training
from agattn.geometry.dimension.dimension import Dimension
from agattn.geometry.dimension.lie_algebra import LinearSymmetries
from agattn.geometry.ideal.equations import Equation, EquationModule
from agattn.geometry.ideal.ideal import Ideal
from agattn.geometry.ideal.model_ideal import ModelIdeal, MultidegreeEquations
from agattn.geometry.identifiability.equivalence import Equivalence
from agattn.geometry.identifiability.fibers import Fiber
from agattn.geometry.sections.slices import Section
from agattn.geometry.singularities.brackets import Bracket
from agattn.geometry.singularities.learning_coefficients import LearningCoefficient, LearningCoefficients
from agattn.geometry.singularities.network_fibers import Comparison, NetworkFiber
from agattn.geometry.singularities.network_points import PointFacts, Singularities
from agattn.geometry.strata.tangent import TangentBounds
from agattn.sheet.data import Cell, Lines, Math, Table, Wide, Word, matrix, tensor_product
from agattn.sheet.result import Result

_MOST_ENTRIES = 64  # of a matrix
_MOST_TERMS = 12  # of an equation
_MOST_MODULES = 20  # of which a notebook shows an equation
_YES = {True: "yes", False: "no", None: "–"}


@singledispatch
def tables(value: object) -> list[Table]:
    """The tables that show a value, the most important one first.

    Raises:
        TypeError: if none is known for values of its type.
    """
    if isinstance(value, Result):
        return list(value.sheet().tables)
    raise TypeError(f"a {type(value).__name__} has no table")


@tables.register
def _rank(rank: RankResult) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        ("rank", "undecided" if rank.rank is None else rank.rank),
        ("at least", f"{rank.lower_bound} ({rank.lower_evidence})"),
        ("at most", f"{rank.upper_bound} ({rank.upper_evidence})"),
        (Wide("why no larger"), rank.reason),
        ("method", rank.method),
    ]
    if rank.precision_bits is not None:
        rows.append(("precision", f"{rank.precision_bits} bits"))
    if rank.gap is not None:
        rows.append(("gap", f"{rank.gap:.1f} bits"))
    return [Table(f"Rank of a {rank.shape[0]} × {rank.shape[1]} matrix", (), tuple(rows))]


@tables.register
def _dimension(found: Dimension) -> list[Table]:
    bounds: list[tuple[Cell, ...]] = [
        ("dimension", found.dimension, Word(str(found.evidence)), "the bounds below, where they meet"),
        ("at least", found.lower_bound, Word("proved"), found.lower_bound_argument),
        ("at most", found.upper_bound, Word("proved"), found.upper_bound_reason),
    ]
    paper = by_paper(found)
    if found.predicted is not None and paper is not None:
        failing = paper.failing
        hypotheses = Lines(("its hypotheses do not hold:", *failing)) if failing else "its hypotheses hold"
        bounds.append(("general formula", found.predicted, "", "the count of parameters less symmetries"))
        bounds.append((f"HMK, {paper.equation}", paper.value, "", hypotheses))
    headings = ("what", "value", "evidence", Wide("why"))
    shown = [Table(f"Dimension of {found.computed_of}", headings, tuple(bounds))]
    if found.ranks:
        points = tuple((r.rank, r.prime, r.rows, r.columns) for r in found.ranks)
        shown.append(
            Table("Ranks of the Jacobian at random points", ("rank", "modulo", "rows", "columns"), points)
        )
    return shown


@tables.register
def _symmetries(found: LinearSymmetries) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [(f.name, f.dimension, ", ".join(f.arrays)) for f in found.families]
    shown = [Table(str(found), ("symmetry", "dimension", Wide("moves")), tuple(rows))]
    if found.new:
        moves = tuple((g.moves, Word(str(g.evidence))) for g in found.new)
        shown.append(Table("New generators", (Wide("vector field"), "evidence"), moves))
    return shown


@tables.register
def _training(found: Training) -> list[Table]:
    rows = tuple(
        (
            run["seed"], run["outcome"], f"{run['loss']:.3g}", f"{run['norm']:.3g}",
            "–" if run["stratum"] is None else "({},{},{})".format(*run["stratum"]),
            "–" if run["hessian_zeros"] is None else run["hessian_zeros"], f"{run['drift']:.1e}",
        )
        for run in found
    )  # fmt: skip
    columns = ("seed", "outcome", "loss", "‖θ‖", "stratum", "Hessian zeros", "drift")
    return [Table(str(found), columns, rows)]


@tables.register
def _ideal(ideal: Ideal) -> list[Table]:
    rows: list[tuple[Cell, ...]] = []
    for piece in ideal.degrees:
        modules = Lines(tuple(
            Math((f"{m.minimal_generators} \\cdot " if m.minimal_generators > 1 else "")
                 + rf"{tensor_product(m.shapes)} \quad (\dim {m.dimension})")
            for m in piece.modules or () if m.minimal_generators
        ))  # fmt: skip
        rows.append(
            (piece.degree, piece.ideal_dimension, piece.hilbert_function, piece.minimal_generators, modules)
        )
    headings = ("degree", "equations", "Hilbert function", "minimal generators",
                "modules of minimal generators")  # fmt: skip
    evidence = f" ({ideal.degrees[0].evidence})" if ideal.degrees else ""
    few = sum(m.minimal_generators > 0 for p in ideal.degrees for m in p.modules or ()) <= _MOST_MODULES
    generators = generators_tables(ideal) if few else []
    return [Table(f"{ideal}{evidence}", headings, tuple(rows)), *generators]


def generators_tables(ideal: Ideal) -> list[Table]:
    """One equation of each module of minimal generators, if there are any.

    >>> from agattn.architectures import SingleLayer
    >>> from agattn.geometry.ideal.ideal import compute_ideal
    >>> [table] = generators_tables(compute_ideal(SingleLayer(3, 1), 3))
    >>> [row[1:3] for row in table.rows]
    [(3, 10), (3, 10)]
    """
    rows = tuple(tables(module)[0].rows[0] for module in ideal.generators)
    caption = "One equation of each module of minimal generators: its highest weight vector"
    return [Table(caption, _MODULE, rows)] if rows else []


_MODULE = ("module", "degree", "dimension", Wide("what it says"), "highest weight vector")


def _equation(equation: Equation) -> Cell:
    f = equation.polynomial()
    return Math(f.latex(), is_sum=True) if len(f) <= _MOST_TERMS else f"{len(f)} terms"


@tables.register
def _module(module: EquationModule) -> list[Table]:
    weight, equation = Math(tensor_product(module.shapes)), _equation(module.highest)
    row = (weight, module.degree, module.dimension, module.name, equation)
    return [Table("A module of equations", _MODULE, (row,))]


@tables.register
def _model_ideal(ideal: ModelIdeal) -> list[Table]:
    headings = ("degree", "equations", "Hilbert function", "minimal generators", "evidence")
    rows = tuple(
        (p.degree, p.ideal_dimension, p.hilbert_function, p.minimal_generators, p.evidence.value)
        for p in ideal.degrees
    )
    groups = ideal.generators[:_MOST_MODULES]
    generators = tuple(tables(group)[0].rows[0] for group in groups)
    caption = "One equation of each multidegree of minimal generators, up to permutations"
    more = len(ideal.generators) - len(groups)
    caption += f"; {more} more multidegrees are left out" if more else ""
    found = [Table(caption, _MULTIDEGREE, generators)] if generators else []
    used = {index for group in groups for equation in group.basis for m in equation.terms for index in m}
    legend = tuple(
        (Math(Variable("y", index).latex()), said) for index, said in ideal.legend.items() if index in used
    )
    names = [Table("Coordinates that occur", ("coordinate", Wide("what it is")), legend)] if legend else []
    return [Table(str(ideal), headings, rows), *found, *names]


_MULTIDEGREE = ("multidegree", "degree", "dimension", "evidence", "equation")


@tables.register
def _multidegree(group: MultidegreeEquations) -> list[Table]:
    weight = ", ".join(map(str, group.multidegree[:-1]))
    row = (f"({weight})", group.degree, group.dimension, group.evidence.value, _equation(group.highest))
    return [Table("Equations of a multidegree", _MULTIDEGREE, (row,))]


@tables.register
def _fiber(fiber: Fiber) -> list[Table]:
    where = "in M" if fiber.is_real else "in M̄, not in M" if fiber.components else "not in M̄"
    caption = (
        f"{fiber.number} components over ℂ ({fiber.case}), {where}, dimension {fiber.dimension} in (A, V)"
    )
    if fiber.dimension_with_keys is not None:
        caption += f", {fiber.dimension_with_keys} in (K, Q, V)"
    ranks = "".join(f", {name} = {decision.rank}" for name, decision in fiber.ranks.items())
    rows: list[tuple[Cell, ...]] = []
    for c in fiber.components:
        known = ("", "") if c.weights is None else (_entries(c.A), _entries(c.V))
        rows.append((c.name, c.dimension, "" if c.length is None else c.length, c.parametrization, *known))
    headings = ("component", "dimension", "length", Wide("parametrization"), "A", "V")
    return [Table(f"{caption}{ranks} ({fiber.evidence}): {fiber.reason}", headings, tuple(rows))]


@tables.register
def _network_fiber(fiber: NetworkFiber) -> list[Table]:
    caption = (
        f"Fiber of {fiber.weights.architecture} ({fiber.case}): dimension {fiber.bounds} of "
        f"{fiber.parameters} at the weights ({fiber.dimension_evidence}), "
        f"{fiber.orbit_dimension} by the symmetries"
    )
    rows = tuple(
        (c.name, c.dimension, _YES[c.through], ", ".join(map(str, c.directions)), ", ".join(c.free),
         c.parametrization)
        for c in fiber.components
    )  # fmt: skip
    headings = ("component", "dimension ≥", "through", "directions", "free", Wide("parametrization"))
    return [Table(caption, headings, rows)]


@tables.register
def _comparison(found: Comparison) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        ("the two functions are", "equal" if found.equal else "different"),
        ("evidence", Word(str(found.evidence))),
    ]
    if found.equal and found.symmetry is None:
        rows.append(("connected by", "no known symmetry that was found"))
    rows += [("connected by", str(step)) for step in found.symmetry or ()]
    return [Table("Two weights of one architecture", (), tuple(rows))]


@tables.register
def _equivalence(found: Equivalence) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [("the two functions are", found.word), ("evidence", str(found.evidence))]
    if found.residual is not None:
        rows.append(("relative distance", f"{found.residual:.3g}"))
    rows.append((Wide("why"), found.reason))
    if found.X is not None:
        rows.append(("X", _entries(found.X)))
    shown = [Table("Equivalence of two sets of weights", (), tuple(rows))]
    if sum(map(len, found.relations)) > 1:
        heads = tuple(
            (layer, r.head, r.other, r.component, str(r.s), "" if r.C is None else _entries(r.C))
            for layer, relations in enumerate(found.relations)
            for r in relations
        )
        names = ("layer", "head", "becomes head", "component", "s", "gauge C")
        bases = [("change of basis after layer", n, _entries(C)) for n, C in enumerate(found.bases)]
        shown.append(Table("The symmetry, head by head", names, heads))
        shown += [Table("", ("what", "layer", "C"), tuple(bases))] if bases else []
    return shown


def _entries(M: Array) -> Cell:
    return matrix(M.tolist()) if M.size <= _MOST_ENTRIES else f"{M.shape[0]} × {M.shape[1]}"


@tables.register
def _tangent(bounds: TangentBounds) -> list[Table]:
    word = {True: "singular", False: "smooth", None: "undecided"}[bounds.singular]
    rows: tuple[tuple[Cell, ...], ...] = (
        (Math(r"\dim T_p \geq"), bounds.lower, bounds.how_lower),
        (Math(r"\dim T_p \leq"), bounds.upper, bounds.how_upper),
        (Math(r"\dim \overline{\mathcal{M}}"), bounds.dimension, f"so the point is {word}"),
    )
    name = bounds.layer.name
    return [Table(f"Tangent space of {name} at {bounds.stratum} ({bounds.evidence})", (), rows)]


@tables.register
def _coefficient(found: LearningCoefficient) -> list[Table]:
    rows: tuple[tuple[Cell, ...], ...] = tuple((str(term.value), term.reason) for term in found.terms)
    return [Table(str(found), ("part of λ", Wide("why")), rows)]


@tables.register
def _bracket(found: Bracket) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (Math(r"\lambda \geq"), str(found.lower), Word("proved")),
        (Math(r"\lambda \leq"), str(found.upper), Word(str(found.evidence))),
        (Math("m"), found.multiplicity or "not known", ""),
        *(("", Wide(reason), "") for reason in found.reasons),
    ]
    return [Table(f"Learning coefficient of {found.architecture}: {found}", (), tuple(rows))]


@tables.register
def _coefficients(found: LearningCoefficients) -> list[Table]:
    least: tuple[tuple[Cell, ...], ...] = tuple(
        (
            str(truth), str(p.coefficient.value), p.coefficient.multiplicity, str(p.orbit), p.rank_k or 0,
            p.rank_q or 0,
        )
        for truth, p in found.least
    )  # fmt: skip
    headings = ("function", "λ", "m", "attained at", "rk K", "rk Q")
    caption = f"Least learning coefficient of each function of {found.layer}"
    return [Table(caption, headings, least)]


@tables.register
def _kinds(found: Singularities) -> list[Table]:
    generic = found.network.parameters - found.dimension.dimension
    rows = tuple(
        (
            f"{point.name} ({_marked('f = 0', point.zero_evidence, point)})" if point.is_zero else point.name,
            _marked(point.differential_rank, point.rank_evidence, point),
            _marked(_range(*(n - generic for n in point.fiber)), point.fiber_evidence, point),
            _marked(_between(point), point.tangent_evidence, point),
            f"{point.singular}{f' ({point.argument})' * (point.singular == 'singular')}",
            Word(str(point.evidence)),
        )
        for point in found.kinds
    )
    tangent = "dim T ≥" if all(point.tangent_upper is None for point in found.kinds) else "dim T"
    headings = (Wide("kind of weights"), "rk dφ", "fiber", tangent, Wide("their function f"), "evidence")
    return [Table(str(found), headings, rows)]


def _marked(shown: Cell, evidence: Evidence, point: PointFacts) -> Cell:
    """A number of a kind, with a star where its evidence is weaker than that in the kind's row."""
    return shown if weakest([evidence, point.evidence]) is point.evidence else f"{shown}*"


def _between(point: PointFacts) -> Cell:
    """The dimension of a tangent space, or its bounds."""
    low, high = point.tangent_lower, point.tangent_upper
    return low if high in (None, low) else _interval(low, high)


def _interval(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _range(low: int, high: int) -> str:
    """A dimension beyond the generic one, between two bounds."""
    return f"{low:+d}" if low == high else f"{low:+d} to {high}"


@tables.register
def _point(point: PointFacts) -> list[Table]:
    rows: list[tuple[Cell, ...]] = [
        (
            "differential",
            f"rank {point.differential_rank} of {point.dimension}",
            Word(str(point.rank_evidence)),
        ),
        ("fiber", f"dimension {_interval(*point.fiber)}", Word(str(point.fiber_evidence))),
        ("tangent space", f"dimension {point.tangent_lower} or more", Word(str(point.tangent_evidence))),
        ("point", Word(point.singular), Word(str(point.evidence))),
        *(
            (name, matrix(array.reshape(-1, *(1, 1, *array.shape)[-2:])[0]), "")
            for name, array in point.preimages[0].items()
        ),
    ]
    return [Table(f"{point.name}: {point.argument}", (), tuple(rows))]


@tables.register
def _section(section: Section) -> list[Table]:
    singular = " = ".join(f.latex() for f in section.singular)
    rows = (
        ("surface", Math(f"{section.equation.latex()} = 0")),
        ("singular points", Math(f"{singular} = 0")),
    )
    return [Table("A surface in a slice", (), rows)]
