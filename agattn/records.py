"""The JSON documents that the commands print, as typed records; the schemas are generated from them.

Exact numbers are text. Keys are always there, unless their type has ``UnsetType``. A ``Struct`` may have
further keys, a ``Record`` not.

>>> schema("atlas")["required"]
['seed', 'limit', 'families']
>>> check("atlas", {"seed": 0, "limit": "all", "families": []})
Traceback (most recent call last):
agattn.errors.InputError: Expected `int`, got `str` - at `$.limit`
"""
# ruff: noqa: D101, D106 -- each is described by its command or key

from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from agattn.errors import InputError
from agattn.evidence import Evidence, Verdict
from agattn.sheet import result
from agattn.sheet.result import Count, Json, Key, Matrix, Positive, printed_as

Number = Annotated[float, Meta(ge=0)]
Strings = Annotated[list[str], Meta(min_length=1)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
THREE = Meta(min_length=3, max_length=3)
Place = Annotated[list[float], THREE]
Seed = Key[Count, "The seed of all random choices."]
Known = Key[Evidence, "How the result is known."]
Drawn = Key[str | None, "Where the figure was drawn."]
#: The names of the engines, in the order in which they are asked; :mod:`agattn.engines` says what each is.
ENGINES = ("macaulay2", "singular", "msolve")
#: An engine in a document, and who computed a table, natively or as an engine.
EngineName: Any = Literal[ENGINES]
Method: Any = Literal["native", *ENGINES]


class Record(Struct, forbid_unknown_fields=True):
    pass


@printed_as("Layer")
class LayerForm(Record):
    d: Key[Positive, "The embedding dimension d: tokens are vectors in ℝ^d."]
    d_out: Key[Positive, "The output dimension d'."]
    a: Key[Positive, "The attention dimension a: the rank of A is at most a."]
    t: Key[Positive, "The number of tokens t."]


@printed_as("Network")
class NetworkForm(Record):
    dims: Key[list[Positive], "The widths d_0, ..., d_l.", Meta(min_length=2)]
    ranks: Key[list[Positive], "The attention dimensions a_1, ..., a_l.", Meta(min_length=1)]
    t: Key[Positive, "The number of tokens t."]
    heads: Key[list[Positive], "The number of heads of each layer.", Meta(min_length=1)]
    skip: Key[bool, "Whether each layer adds its input to its output."]
    normalization: Key[Literal["none", "softmax"], "`none` is lightning attention, `softmax` normalized."]
    temperature: Key[float, "The T of exp(·/T); without effect for lightning attention.", Meta(gt=0)]
    value_rank: Key[Positive | None, "The largest rank of each value matrix; null where not restricted."]


class AttentionLayer(Record, tag_field="type", tag="attention"):
    """Heads of attention."""

    out: Key[Positive, "The output dimension d'."]
    rank: Key[Positive, "The attention dimension a."]
    heads: Key[Positive, "The number of heads."] = 1
    value_rank: Key[Positive | None, "The largest rank of each V; null where not restricted."] = None
    mask: Key[
        Literal["none", "causal"] | list[list[int]],
        "Which tokens are seen: rows i, columns j, 1 if j sees i.",
    ] = "none"
    rotary: Key[bool, "Whether keys and queries are turned by their positions."] = False
    skip: Key[bool, "Whether the input is added to the output."] = False
    normalization: Key[Literal["none", "softmax"], "`none` is lightning attention."] = "none"


class PerceptronLayer(Record, tag_field="type", tag="perceptron"):
    """Matrices with powers between them, token by token."""

    widths: Key[list[Positive], "The numbers of rows of the matrices.", Meta(min_length=1)]
    degree: Key[Positive, "The power of every entry between two matrices."]
    bias: Key[bool, "Whether each matrix comes with a bias."] = False
    skip: Key[bool, "Whether the input is added to the output."] = False


class ConvolutionLayer(Record, tag_field="type", tag="convolution"):
    """A filter that slides along the tokens, and a power."""

    filter: Key[Positive, "The length of the filter."]
    degree: Key[Positive, "The power of every entry."]
    stride: Key[Positive, "By how much the filter moves on."] = 1
    channels: Key[Positive, "The number of channels of the output."] = 1


class LinearLayer(Record, tag_field="type", tag="linear"):
    """One matrix, token by token."""

    out: Key[Positive, "The number of its rows."]
    bias: Key[bool, "Whether it comes with a bias."] = False


class PowerLayer(Record, tag_field="type", tag="power"):
    """A power of every entry."""

    degree: Key[Positive, "The exponent."]


class SumLayer(Record, tag_field="type", tag="sum"):
    """The sum of the tokens."""


class SkipLayer(Record, tag_field="type", tag="skip"):
    """Layers one after the other, whose input is added to their output."""

    layer: Key[list[dict[str, Any]], "The layers, as in `layer` of the model.", Meta(min_length=1)]


AnyLayer = (
    AttentionLayer | PerceptronLayer | ConvolutionLayer | LinearLayer | PowerLayer | SumLayer | SkipLayer
)


class Model(Record):
    class Input(Record):
        dim: Key[Positive, "The number of rows of X."]
        tokens: Key[Positive, "The number of its columns, the tokens."] = 1

    input: Key[Input, "What the first layer takes."]
    layer: Key[list[AnyLayer], "The layers, one after the other.", Meta(min_length=1)]


class Map(Record):
    function: Key[str, "The name of the Python function."]
    parameters: Key[dict[str, list[Positive]], "The shape of each parameter."]
    inputs: Key[list[Positive] | None, "The shape of X; null where there is none."]


#: What can be studied, as documents name it.
KINDS = (LayerForm, NetworkForm, Model, Map)


class ArchitectureForm(Json):
    """One of :data:`KINDS`, which its keys tell."""

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Any of them, with the schemas of their parts."""
        refs, parts = msgspec.json.schema_components(KINDS, ref_template="#/$defs/{name}")
        return {"anyOf": [parts.pop(ref["$ref"].removeprefix("#/$defs/")) for ref in refs], "$defs": parts}

    @classmethod
    def check_json(cls, value: Any) -> None:
        """Check one of them; ValueError if it is none."""
        try:
            kinds = {"d": LayerForm, "layer": Model, "function": Map}
            msgspec.convert(value, next((kinds[key] for key in kinds if key in value), NetworkForm))
        except msgspec.ValidationError as error:
            raise ValueError(str(error).partition(" - at")[0]) from None


Studied = Key[ArchitectureForm, "What was studied: a layer, a network, a model, or a polynomial map."]
OneLayer = Key[LayerForm, "The layer."]


class Atlas(Record):
    class Family(Record):
        class Missed(Record):
            architecture: Key[NetworkForm, "The network."]
            dimension: Key[Count, "Its dimension, or the rank observed where that is not proved."]
            evidence: Known
            upper_bound: Key[Count, "The proved upper bound."]
            paper: Key[int, "Equation 14, or 7 for one layer, whether or not its hypotheses hold."]

        title: Key[str, "What the networks of the family have in common."]
        networks: Key[Count, "The number of networks computed."]
        total: Key[Count, "The number of networks in the family."]
        proved: Key[Count, "How many of the computed dimensions are proved."]
        formula_missed: Key[list[Missed], "The networks whose dimension is not the general formula's."]
        paper_applies: Key[Count, "The number of networks that fulfil the hypotheses of equation 14."]
        paper_missed: Key[list[Missed], "Those whose dimension is not equation 14's, fulfilled or not."]

    seed: Key[Count, "The seed with which networks are drawn from large families."]
    limit: Key[Count, "The largest number of networks taken from one family."]
    families: Key[list[Family], "One entry for each family of networks."]


class Calibrate(Record):
    class Point(Record, rename={"value": "lambda"}):
        architecture: Key[LayerForm, "The layer; t is 1 where the point is one of a single token, else 2."]
        head: Key[Literal["lightning", "softmax"], "The kind of attention."]
        kind: Key[str, "What is special about the weights."]
        K: Key[list[list[int]], "The keys, a × d."]
        Q: Key[list[list[int]], "The queries, a × d."]
        V: Key[list[list[int]], "The values, d' × d."]
        stratum: Key[list[Count], "The ranks of V, A and [V; Aᵀ].", THREE]
        rank_k: Key[Count, "The rank of K."]
        rank_q: Key[Count, "The rank of Q."]
        value: Key[str, "The learning coefficient λ, a fraction such as `9/4`; proved."]
        multiplicity: Key[Positive, "The multiplicity m of λ; proved."]

    class Estimate(Record, rename={"value": "lambda"}):
        point: Key[Count, "The number of the point, from 0."]
        name: Key[str, "The point in words."]
        method: Key[Literal["chains", "volumes", "sgld", "devinterp", "free-energy"], "What estimated λ."]
        value: Key[str, "The learning coefficient λ itself."]
        multiplicity: Key[Positive, "Its multiplicity m."]
        estimate: Key[float | None, "The estimate of λ; null where a chain diverged."]
        standard_error: Key[Number | None, "Its standard error, from independent repetitions."]
        evidence: Key[Literal["numerical"], "How the estimate is known."]
        n_beta: Key[Number | UnsetType, "Of SGLD: the inverse temperature nβ."] = UNSET
        gamma: Key[Number | UnsetType, "Of SGLD: the localization γ."] = UNSET
        step: Key[Number | UnsetType, "Of SGLD: the step ε."] = UNSET
        curvature: Key[float | UnsetType, "Of SGLD: the largest eigenvalue of the Hessian at w₀."] = UNSET
        sizes: Key[list[Positive] | UnsetType, "Of free energies: the numbers n of samples."] = UNSET
        energies: Key[list[float] | UnsetType, "Of free energies: the means of F_n − nS_n."] = UNSET

    points: Key[list[Point], "The points with known λ, in the order in which they are taken."]
    estimates: Key[list[Estimate], "With --out: what sampling found."]


@printed_as("Figure1")
class Figure1Form(Record, tag_field="figure", tag=1):
    """Figure 1."""

    class Slice(Record):
        names: Key[list[str], "The names of the three coordinates.", THREE]
        origin: Key[list[str], "The image of (0, 0, 0)."]
        directions: Key[list[list[str]], "The images of the unit vectors, less the origin.", THREE]

    class Line(Record):
        point: Key[list[str], "A point of the line."]
        direction: Key[list[str], "Its direction."]

    class Piece(Record, rename={"start": "from", "end": "to"}):
        start: Key[float, "The parameter at which the piece begins."]
        end: Key[float, "The parameter at which it ends."]
        sample: Key[str, "The rational parameter at which it was decided."]
        in_m: Key[bool, "Whether the piece is in M, and not only in its Zariski closure."]
        reason: Key[str, "Why."]

    architecture: OneLayer
    slice: Key[Slice, "The affine map from three coordinates to the N coordinates y, with exact entries."]
    equation: Key[str, "The surface, squarefree."]
    singular: Key[list[str], "Polynomials whose zeros are its singular points."]
    line: Key[Line | None, "The singular points, if they form a line."]
    pieces: Key[list[Piece], "Of that line, by the parameter: where it is in M."]
    pinch_points: Key[list[Place], "Where the two preimages come together: ends that two pieces share."]
    engine: Key[str, "What computed the equation: an engine with its version, or `native` and why."]
    script_sha256: Key[str | None, "The SHA-256 of the script that ran; null for a native computation."]
    evidence: Known
    file: Drawn


class Figure2(Record, tag_field="figure", tag=2):
    """Figure 2."""

    class Factor(Record):
        i: Key[Positive, "The index of the virtual weight M_i."]
        transposed: Key[bool, "Whether it is transposed."]

    layers: Key[Positive, "The number of layers l."]
    factors: Key[list[Factor], "Equation 12, from left to right."]
    product: Key[str, "The same in a formula."]
    file: Drawn


@printed_as("FigureDeep")
class FigureDeepForm(Record):
    """A slice of a network through a head of rank one: figure deep."""

    figure: Key[Literal["deep"], "`deep`."]
    architecture: Key[NetworkForm, "The network."]
    weights: Key[
        dict[str, Matrix], "All virtual weights with a function in the slice, with unknowns e and q."
    ]
    dimension: Key[Count, "The dimension of the affine space that cuts."]
    span: Key[list[list[Count]], "Its coordinates on the surface, as powers of x and y."]
    coordinates: Key[list[list[Count]], "Those of them that are drawn, x, y and z.", THREE]
    equation: Key[str, "The surface in these three."]
    limits: Key[
        str, "Points of the surface that are limits of functions of the network, and none of its own."
    ]
    evidence: Known
    file: Drawn


@printed_as("FigureCritical")
class FigureCriticalForm(Record):
    """Critical points of a loss on the surface of Figure 1: figure critical."""

    class Point(Record):
        kind: Key[
            Literal["minimum", "saddle", "degenerate", "minimum on the singular line"],
            "What it is on the surface, or on its singular line.",
        ]
        index: Key[Count | None, "The number of negative eigenvalues of the Hessian; null if degenerate."]
        position: Key[Place, "Its coordinates in the slice."]
        loss: Key[float, "The loss there."]
        on_line: Key[bool, "Whether it is one of the restriction to the singular line."]
        in_m: Key[bool, "Whether it is in M."]
        stratum: Key[list[Count], "Its stratum (r_V, r_A, r).", THREE]
        weights: Key[dict[str, list[list[float]]] | None, "A and V; null outside M."]
        evidence: Known

    figure: Key[Literal["critical"], "`critical`."]
    architecture: OneLayer
    metric: Key[str, "The metric of the distance, or `data`."]
    target: Key[list[str] | None, "In the slice, the point from which it is; null for a loss of data."]
    equation: Key[str, "The surface."]
    points: Key[list[Point], "All critical points on the surface, and the one on its singular line."]
    levels: Key[list[float], "The losses whose level sets are drawn."]
    evidence: Known
    file: Drawn


class Figure3(Record, tag_field="figure", tag=3):
    """Figure 3."""

    class Width(Record):
        delta: Key[Count, "The width δ."]
        dimension: Key[Count, "The dimension computed."]
        evidence: Known
        lower_bound: Key[Count, "The proved lower bound."]
        upper_bound: Key[Count, "The proved upper bound."]
        expected: Key[Count, "Equation 16."]
        float32: Key[Count, "The numerical rank in one trial in float32."]

    rows: Key[list[Width], "One entry for each δ."]
    file: Drawn


class Study(Record):
    """One line of the JSON Lines that agattn study prints: a job and what came of it."""

    class Verify(Record, tag_field="ask", tag="verify"):
        """The claims were checked."""

        claims: Key[Literal["all"] | Strings, "All, or the ids of those that were checked."]
        engine: Key[str, f"auto, {', '.join(ENGINES)}, native or all."]
        seed: Seed
        timeout: Key[Number | UnsetType, "Seconds for each run of an engine, where one may be used."] = UNSET
        memory: Key[Positive | UnsetType, "MiB for each run of an engine, where one may be used."] = UNSET

    class Dimension(Record, tag_field="ask", tag="dimension"):
        """The dimension was computed."""

        seed: Seed

    class Symmetries(Record, tag_field="ask", tag="symmetries"):
        """All linear symmetries were found."""

        seed: Seed

    class Ideal(Record, tag_field="ask", tag="ideal"):
        """The equations up to a degree were found."""

        max_degree: Key[Positive, "The last degree."]
        seed: Seed

    class Strata(Record, tag_field="ask", tag="strata"):
        """The strata were listed."""

    class Failure(Record):
        type: Key[str, "The kind of error, see the page on errors."]
        message: Key[str, "What went wrong, in one line."]

    key: Key[Sha256, "SHA-256 of job, architecture and versions, as JSON with sorted keys and no spaces."]
    job: Key[
        Verify | Dimension | Symmetries | Ideal | Strata,
        "What was asked, and the settings on which the answer depends.",
    ]
    architecture: Studied
    versions: Key[
        dict[str, str],
        "Of agattn, a fingerprint of its code, and of the engines where they may be used.",
        Meta(extra_json_schema={"required": ["agattn", "code"]}),
    ]
    status: Key[Count, "The exit status for this job alone; 3 also for a dimension not proved.", Meta(le=4)]
    seconds: Key[Number, "How long it took when it was computed."]
    cached: Key[bool, "Whether it was computed by an earlier study."]
    result: Key[dict[str, Any] | UnsetType, "What the command of that name prints."] = UNSET
    error: Key[Failure | UnsetType, "Why there is no result."] = UNSET

    def __post_init__(self) -> None:
        if (self.result is UNSET) == (self.error is UNSET):
            raise ValueError("a line has either a result or an error")


class Train(Record):
    """One line of the JSON Lines that agattn train prints: the run of one seed."""

    class History(Record):
        time: Key[list[Number], "The times, from 0; of descent the rate times the steps."]
        loss: Key[list[float], "The loss, without weight decay."]
        gradient: Key[list[float], "The norm of the gradient, with weight decay."]
        norm: Key[list[float], "The norm of the weights."]
        second_singular_value: Key[
            list[list[float]] | UnsetType, "σ₂/σ₁ of A by layer, the least of its heads."
        ] = UNSET

    experiment: Key[str, "The name of the experiment."]
    seed: Seed
    outcome: Key[
        Literal["converged", "diverged", "stiff", "unfinished", "sampled", "untrained"],
        "How the run ended; only what converged is a limit point.",
    ]
    steps: Key[Count, "The steps that were taken."]
    time: Key[Number, "The time that was reached."]
    loss: Key[float, "The loss there; teachers have norm 1 where the architecture can be scaled."]
    gradient: Key[float, "The norm of the gradient there."]
    norm: Key[float, "The norm of the weights there."]
    growth: Key[float | None, "d log‖θ‖ / d log t over the last ten-fold of time."]
    drift: Key[Number, "The largest error of an entry of the conserved matrices along the path."]
    diverged: Key[bool, "Whether weights overflow, or still grow like a power of time."]
    ranks: Key[list[list[list[Count]]] | None, "[rk A, rk V] to tolerance, by layer and head."]
    stable_ranks: Key[list[list[list[Number]]] | None, "The stable ranks, likewise."]
    singular_values: Key[list[list[list[list[Number]]]] | None, "The singular values of A and V, likewise."]
    stratum: Key[Annotated[list[Count], THREE] | None, "[rk V, rk A, rk [V; Aᵀ]] of one layer of one head."]
    singular: Key[bool | None, "Whether the stratum is singular."]
    boundary: Key[bool | None, "Whether it is on the boundary of M."]
    distances: Key[
        dict[str, list[Number]] | None, "Bounds on the relative distance of φ to the closures of strata."
    ]
    nearest: Key[dict[str, list[Number]] | None, "The least upper bound on the way, and when."]
    fiber_dimension: Key[Count | None, "The number of parameters less dim M, by the formula for dim M."]
    hessian_zeros: Key[Count | None, "Zero eigenvalues of the Hessian at a limit point."]
    hessian_negative: Key[Count | None, "Its negative eigenvalues."]
    hessian: Key[list[Number] | None, "The smallest and the largest absolute value of the others."]
    history: Key[History, "The way there, at times evenly spaced in log t."]


_CLAIM = result.record(Verdict)


@printed_as("Report")
class ReportForm(Record):
    class Results(Record):
        jobs: Key[Positive, "How many results the study has."]
        summary: Key[str, "What came out, in a sentence."]

    class Found(Record):
        summary: Key[str, "What came out, in a sentence."]

    files: Key[list[str], "What was written: report.html, report.md, pictures, scripts, transcripts."]
    architecture: Key[ArchitectureForm | UnsetType, "The layer, network or model."] = UNSET
    claims: Key[list[_CLAIM] | UnsetType, "As in agattn verify --json."] = UNSET  # type: ignore[valid-type]
    model: Key[Found | UnsetType, "Of a model that is no layer and no network of attention."] = UNSET
    study: Key[Results | UnsetType, "With --study, instead of architecture and claims."] = UNSET


def _either(*keys: str) -> Meta:
    """The condition that exactly one of these keys is there."""
    return Meta(extra_json_schema={"oneOf": [{"required": [key]} for key in keys]})


RECORDS: dict[str, Any] = {
    "atlas": Atlas, "calibrate": Calibrate,
    "figure": (FigureCriticalForm, FigureDeepForm, Figure1Form | Figure2 | Figure3),
    "report": Annotated[ReportForm, _either("claims", "model", "study")],
    "study": Annotated[Study, _either("result", "error")], "train": Train,
}  # fmt: skip


def _kinds(name: str) -> tuple[Any, ...]:
    """The records of a command: several where it prints one thing and writes another."""
    return RECORDS[name] if isinstance(RECORDS[name], tuple) else (RECORDS[name],)


def schema(name: str) -> dict[str, Any]:
    """The JSON schema, in the 2020-12 draft, of what the command ``name`` prints with ``--json``."""

    return result.schema(*_kinds(name), title=f"agattn {name} --json")


@cache
def _keys(record: type[Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(record)


def document(record: type[Struct], value: object, *later: str, **given: object) -> dict[str, Any]:
    """The document about a value: the keys of its record, in their order, from the attributes of these names.

    Args:
        record: what the document will be.
        value: what it is about.
        later: keys that are not there, or are still to be added.
        given: values of keys that are no attributes, or others than these.

    >>> from types import SimpleNamespace
    >>> document(LayerForm, SimpleNamespace(d=3, d_out=2, a=2), t=2)
    {'d': 3, 'd_out': 2, 'a': 2, 't': 2}
    """
    config = record.__struct_config__
    found: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
    for key in _keys(record):
        if key.name in given:
            found[key.encode_name] = _written(given[key.name], key.type)
        elif key.name not in later and (key.required or hasattr(value, key.name)):
            found[key.encode_name] = _written(getattr(value, key.name), key.type)
    return found


def _written(item: Any, kind: Any) -> Any:
    """A value as JSON has it: exact numbers and polynomials as text, ``None`` for what is infinite."""
    if get_origin(kind) is Annotated:
        kind = kind.__origin__
    if get_origin(kind) in (Union, UnionType):
        kinds = [one for one in get_args(kind) if one not in (NoneType, UnsetType)]
        return _written(item, str if kinds == [float, str] and not isinstance(item, float) else kinds[0])
    if isinstance(item, float) and not isfinite(item):
        return None
    if item is None or (isinstance(item, (bool, int, float, str)) and kind is not str):
        return item
    if hasattr(item, "as_json"):
        return item.as_json()
    if isinstance(item, Enum):
        return item.value
    if hasattr(item, "tolist"):  # of numpy
        return _written(item.tolist(), kind)
    *_, part = get_args(kind) if get_origin(kind) in (list, dict) else (Any,)
    if isinstance(item, Mapping):
        return {str(name): _written(value, part) for name, value in item.items()}
    if isinstance(kind, type) and issubclass(kind, Struct):
        return document(kind, item)
    return [_written(one, part) for one in item] if isinstance(item, (list, tuple)) else str(item)


def check(name: str, document: object) -> None:
    """Check that ``document`` is what the command ``name`` prints with ``--json``.

    Raises:
        InputError: if it is not; says where, such as ``$.claims[0].verdict``.
    """

    *others, last = _kinds(name)
    for kind in others:
        with suppress(InputError):
            result.check(kind, document)
            return
    result.check(last, document)
