"""What commands about weights do in a shell: they read files, and show what their verbs say of the arrays."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from agattn.algebra.rank import matrix_in, rank_of
from agattn.architectures import SingleLayer
from agattn.calls import positive_integer
from agattn.checkpoints.checkpoints import is_plain, read_weights
from agattn.checkpoints.stored import Transformer
from agattn.checkpoints.weight_files import WeightFile
from agattn.cli.architecture import configured, whole_number
from agattn.cli.generator import OPTIONS, Input, Option, Reply, Writes
from agattn.cli.kinds import DRAWINGS, FIGURES, STDOUT, Choice, InputFile, Outputs, Whole, chosen, leave_out
from agattn.cli.output import as_text, say_on_stderr, show_result, write_file
from agattn.errors import InputError
from agattn.geometry.identifiability.weights import weights
from agattn.limits import limited
from agattn.sheet.terminal import print_folded

Files = Annotated[
    tuple[Path, ...], Option(InputFile(), metavar="FILE...", more={"nargs": -1, "required": True})
]
Tolerance = OPTIONS["tolerance"]._replace(
    help="What counts as zero in floating point, relative to the largest.  "
    "[default: a few roundings of the stored type]"
)
FromZero = Option(Whole(0), metavar="N")


def read_tensor(path: Path) -> Any:
    """The array ``y`` of a file, or the only array of the file.

    Raises:
        InputError: if it is not clear which array is meant.
    """
    return one_tensor(WeightFile([path]), path)


def one_tensor(arrays: Mapping[str, Any], path: Path, or_else: str = "") -> Any:
    """The array ``y``, or the only one, of those in a file."""
    if len(arrays) != 1 and "y" not in arrays:
        names = ", ".join(list(arrays)[:6]) or "none"
        raise InputError(f"{path} holds the arrays {names}; give one tensor{or_else}")
    return arrays["y" if "y" in arrays else next(iter(arrays))]


def classify(
    files: Files,
    *,
    output: Annotated[Outputs, Writes((".json", ".jsonl", ".csv", *FIGURES), documents=False)] = (),
    ignore: str | None = None,
    tolerance: Annotated[float | None, Tolerance] = None,
    as_json: bool = False,
    **given: Any,
) -> Any:
    """Place every head of a checkpoint on the neuromanifold M(d, d', a): stratum, distances, stable ranks.

    FILE is the folder of a model (config.json and shards), .safetensors (or the .index.json of its shards),
    .npz, .npy or .json: the layouts of BERT, GPT-2, Llama, GPT-NeoX, Falcon and their like, of timm,
    diffusers, TransformerLens and torch's MultiheadAttention, or plain arrays K, Q, V or A, V. Layers and
    heads count from 0. The geometry is that of A = KᵀQ and V: biases, positions, scales and softmax play no
    part.

    Args:
        output: write the table, as .jsonl a line for each head, or draw stable ranks by layer.
    """
    from agattn.checkpoints.head_geometry import classify

    ignored = configured({"ignore": ignore})["ignore"]
    table = classify(list(files), tolerance=tolerance, ignore=ignored, **given)
    document = table.as_json()
    rows = document["heads"]
    lines = "".join(json.dumps(line.as_json()) + "\n" for line in table.heads)
    texts = {".csv": _csv(rows), ".json": as_text(document), ".jsonl": lines}
    for path, ending in output:
        if ending in texts:
            write_file(path, texts[ending])
        else:
            from agattn.reports.drawing import save
            from agattn.reports.study_figures import draw_stable_ranks, page_of_stable_ranks

            save(page_of_stable_ranks(rows) if ending == ".html" else draw_stable_ranks(rows), path)
            say_on_stderr(f"wrote {path}")
    return table if as_json or not output else 0


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    columns = dict.fromkeys(["layer", "head", *(rows[0] if rows else ())])
    writer = csv.DictWriter(stream, [*columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def fiber(
    files: tuple[Path, ...],
    architecture: Any,
    a: Annotated[int | None, Option(Whole(1), "-a --attn-dim", "N")] = None,
    *,
    other: Annotated[Path | None, Input] = None,
    layer: Annotated[int | None, FromZero] = None,
    head: Annotated[int | None, FromZero] = None,
    kv_heads: int | None = None,
    match: tuple[str, ...] = (),
    names: str | None = None,
    tolerance: Annotated[float | None, Tolerance] = None,
    seed: int = 0,
    output: Annotated[Outputs, Writes()] = (),
    as_json: bool = False,
) -> Any:
    """Describe the fiber through the weights in FILE: all weights that compute the same function (t ≥ 2).

    FILE is .npz, .safetensors or .json with arrays A and V, or K, Q and V; or give .npy files whose names
    end in these letters; or a checkpoint, with --layer and --head. Integers, and rationals such as "1/3" in
    JSON, are exact.

    For a network, --dims and --ranks with its weights K_1, Q_1, V_1, K_2, ... in FILE, or A_1 in place of
    K_1 and Q_1: the components that are known, and both bounds on the dimension at the weights; with softmax
    for one head in each layer. With a model file the same of any polynomial model, with an array for each of
    its parameters; with --jet N of the jet of a softmax network. Floating-point weights are taken as exact.

    Args:
        a: for weights A, V: the largest rank of A.
        other: other weights: decide whether they have the same function.
        layer: which layer of a checkpoint or of stacked weights, from 0.
        head: which head of a checkpoint or of stacked weights, from 0.
    """
    if architecture is not None:
        leave_out("is for one head", "a", "layer", "head", "kv_heads", "match", "names", "tolerance")
        from agattn.geometry.identifiability.network_fibers import network_fiber

        with limited(seed=seed):
            whole: Any = network_fiber(architecture, WeightFile(files))
            answer: Any = None if other is None else whole.compare(WeightFile([other]))
        result = whole.replace(equivalent=answer)
    else:
        of_networks = ("t", "skip", "normalization", "jet", "seed")
        leave_out("is for a network or a model; give --dims and --ranks, or a model file, too", *of_networks)
        which = {
            "layer": layer,
            "head": head,
            "kv_heads": kv_heads,
            "match": match,
            "names": names,
        } | counts()
        answer, result = _fiber_of_head(files, other, a, which, tolerance)
    show_result(result, as_json, output)
    if answer is not None and not as_json and STDOUT not in [path for path, _ in output]:
        print_folded(f"{other}: {answer}")
    return 0


def counts() -> dict[str, Any]:
    """How many heads a checkpoint has, and how its configuration is read, as given."""
    given = click.get_current_context().params
    heads = None if given["heads"] is None else positive_integer("heads", whole_number(given["heads"]))
    return {"heads": heads, **configured(given)}


def _fiber_of_head(
    files: tuple[Path, ...], other: Path | None, a: int | None, which: dict[str, Any], tolerance: float | None
) -> tuple[Any, Any]:
    """The comparison with other weights, if any, and the fiber through the head in files."""
    from agattn.geometry.identifiability.equivalence import equivalent
    from agattn.geometry.identifiability.network_fibers import fiber

    w = _head(files, a, which)
    result: Any = fiber(SingleLayer(len(w.A), len(w.V), w.a), w, tolerance=tolerance)
    if other is None:
        return None, result.replace(equivalent=None)
    answer = equivalent(w, _head((other,), a, which), tolerance=tolerance)
    return answer, result.replace(equivalent=answer.of_head())


def _head(files: tuple[Path, ...], a: int | None, which: dict[str, Any]) -> Any:
    """The one head in files that hold A and V, or K, Q and V, or in a checkpoint."""
    network = read_weights(WeightFile(files), **which)
    if len(network) > 1 or len(network[0]) > 1:
        raise InputError(f"{files[0]} holds several heads; choose a head by --layer and --head, from 0")
    ((w,),) = network
    if a is None:
        return w
    return weights(A=w.A, V=w.V, a=a) if w.K is None else weights(K=w.K, Q=w.Q, V=w.V, a=a)


def equivalent(
    first: Annotated[Path, Option(InputFile(), metavar="W1")],
    second: Annotated[Path, Option(InputFile(), metavar="W2")],
    *,
    layer: Annotated[int | None, FromZero] = None,
    head: Annotated[int | None, FromZero] = None,
    heads: int | None = None,
    kv_heads: int | None = None,
    match: tuple[str, ...] = (),
    names: str | None = None,
    family: str | None = None,
    ignore: str | None = None,
    tolerance: Annotated[float | None, Tolerance] = None,
    distance: bool = False,
    workers: int | None = None,
    output: Annotated[Outputs, Writes((".safetensors",))] = (),
) -> Reply:
    """Decide whether the weights in W1 and in W2 are the same function for all t ≥ 2, and by which symmetry.

    A file holds arrays A and V, or K, Q and V: matrices, or stacks with one matrix for each head; of several
    layers K_1, Q_1, V_1, K_2 and so on. Two whole checkpoints with their config.json, folders or files, are
    compared array by array, with --layer one layer, with --head, too, one head. Of other checkpoints, or
    where options say which arrays are meant, KᵀQ and V of one head are compared as they are stored, without
    outputs, biases and norms. Integers, and rationals such as "1/3" in JSON, are exact, and the answer is
    then proved. Floats are as good as the type in which they are stored: of KᵀQ and V nothing is decided
    within a factor of 10 of the tolerance.

    Exit status: 0 the same function; 1 different functions; 3 undecided.

    Args:
        layer: which layer of a checkpoint or of stacked weights, from 0.
        head: which head of a checkpoint or of stacked weights, from 0; of two whole ones which of W2.
        distance: how far two whole checkpoints are from each other instead, layer by layer and head by head.
        workers: cores for whole checkpoints; all by default, if it takes seconds.
        output: write the result, or of two checkpoints the symmetry, with the meaning of its names.
    """
    from agattn.geometry.identifiability.equivalence import equivalent

    whole = all(_is_checkpoint(path) for path in (first, second))
    with limited(workers=workers):
        if distance:
            return _distance(first, second, whole and layer is None and head is None)
        if head is None and whole:
            leave_out("is for one head of a checkpoint", "heads", "kv_heads", "match", "names", "tolerance")
            return _same_model(_models(first, second), layer, output)
    if symmetries := chosen(output, ".safetensors"):
        raise InputError(f"{symmetries[0]} holds the symmetry of two whole checkpoints; leave it out")
    how = {"heads": heads, "kv_heads": kv_heads, "match": match, "names": names}
    how |= configured({"family": family, "ignore": ignore})
    refused: InputError | None = None
    if whole and not any(how.values()):
        try:
            models = _models(first, second)
        except InputError as error:  # there may be arrays of attention alone
            refused = error
        else:
            leave_out("is for KᵀQ and V as they are stored", "tolerance")
            with limited(workers=workers):
                return _same_model(models, layer, head=head)
    leave_out("is for two whole checkpoints", "workers")
    files = [WeightFile([path]) for path in (first, second)]
    one, two = (read_weights(file, layer, head, **how) for file in files)
    answer = equivalent(one, two, tolerance=tolerance)
    if refused is not None:
        say_on_stderr(f"not read as whole models: {refused}")
    if names is not None or not all(map(is_plain, files)):
        answer = answer.replace(reason=f"of {AS_STORED}: {answer.reason}")
    text = "\n".join(filter(None, (str(answer), answer.closeness)))
    return Reply(answer, text, {True: 0, False: 1, None: 3}[answer.equal])


#: What is compared of a head of a checkpoint that is not read as a whole.
AS_STORED = "KᵀQ and V as they are stored, without outputs, biases and norms"


def _models(first: Path, second: Path) -> tuple[Transformer, Transformer]:
    """Two whole checkpoints, of which only the names and shapes of arrays are read."""
    from agattn.checkpoints.reading import read_transformer

    return read_transformer(first), read_transformer(second)


def _distance(first: Path, second: Path, whole: bool) -> Reply:
    """How far two whole checkpoints are from each other."""
    from agattn.checkpoints.model_distance import model_distance

    if not whole:
        raise InputError("--distance is for two whole checkpoints with their config.json; leave it out")
    return Reply(model_distance(*_models(first, second)))


def _is_checkpoint(path: Path) -> bool:
    """Whether a path is the folder of a model, or a file of tensors, with its configuration."""
    folder = path if path.is_dir() else path.parent
    return (folder / "config.json").is_file() and path.suffix not in (".npz", ".npy")


def _same_model(
    models: tuple[Transformer, Transformer], layer: int | None, output: Outputs = (), head: int | None = None
) -> Reply:
    """Two whole checkpoints, or a layer or a head of them."""
    from agattn.checkpoints.same_model import compare_models, write_symmetry

    answer = compare_models(*models, layer, head)
    for path in chosen(output, ".safetensors"):
        write_symmetry(path, answer.arrays)
    return Reply(answer, status=answer.status)


def identify(file: Annotated[Path, Input], layer: Any, *, tolerance: float = 1e-8) -> Any:
    """Recover (A, V) from a coefficient tensor, or say why no weights have this tensor and give the nearest.

    FILE is .npy, .npz, .safetensors or .json with one array, such as [5, 22, 21, 10, 34, 28]: the N compact
    coefficients y_(c,b,i,k), i ≤ k, of u_i u_k in the product of row c of V and column b of A, ordered by c,
    b, i, k; or all coefficients, d' × t × C(dt+2, 3). Arrays X (n × d × t) and Y (n × d' × t) are read as a
    table of inputs and outputs. Integers, and rationals such as "1/3" in JSON, are exact.
    """
    from agattn.geometry.reconstruction.membership import identify

    arrays = WeightFile([file])
    is_table = {"X", "Y"} <= set(arrays)
    values = arrays if is_table else one_tensor(arrays, file, ", or X and Y for a table")
    return identify(layer, values, tolerance=tolerance)


def canonical(
    file: Annotated[Path, Input],
    *,
    residual_basis: bool = False,
    fold_norms: bool = False,
    workers: int | None = None,
    output: Annotated[Outputs, Writes((".safetensors", ""), folder=True, default="", required=True)] = (),
) -> Any:
    """Write the checkpoint in FILE in its canonical form: the same function, and one file for all its copies.

    FILE is the folder of a model (config.json and .safetensors), or its one file. Values, scores without
    positions, pairs of rotary rows, gains of normalized queries and keys, neurons, and the orders of groups,
    heads and neurons become canonical, in the layout and the type of FILE; biases that count together stand
    together. A second run changes nothing beyond rounding. Where singular values or norms nearly coincide,
    the table says what is ambiguous. Do not compare two models by it: agattn equivalent does that.

    Args:
        residual_basis: choose the basis of the residual stream, too; folds norms.
        fold_norms: fold norms into what reads them, take out means, and center embeddings.
        workers: cores; all by default, if it takes seconds.
        output: a folder, or a file if FILE is one.
    """
    from agattn.checkpoints.canonical import canonical
    from agattn.checkpoints.reading import write_transformer

    with limited(workers=workers):
        form = canonical(file, residual_basis=residual_basis, fold_norms=fold_norms)
        for path in chosen(output, ".safetensors", ""):
            write_transformer(file, form.transformer, path)
            say_on_stderr(f"wrote {path}")
    return form


def convert(
    file: Annotated[Path, Input],
    *,
    output: Annotated[Outputs, Writes((".safetensors",), folder=True)] = (),
    **given: Any,
) -> Any:
    """Find the nearest checkpoint with fewer keys and values, and the proof that none is nearer.

    FILE is the folder of a model (config.json and .safetensors). For each layer the table has the error,
    which equals a lower bound for these groups in a norm that takes tokens as independent, and the errors of
    averages, without and with Procrustes alignment (a rotation). Nothing is claimed of the loss of the model.

    Args:
        output: write the checkpoint, as its family stores it.
    """
    from agattn.checkpoints.conversion import convert, write_conversion

    result = convert(file, **given)
    for path in chosen(output, "", ".safetensors"):
        smaller = write_conversion(file, result, path)
        repeated = result.kind == "kv_heads" and not smaller
        say_on_stderr(f"wrote {path}{', where shared arrays are repeated' if repeated else ''}")
    return result


def rank(
    file: Annotated[Path, Input],
    method: Annotated[str, Option(Choice("auto", "rational", "modular", "ball", "mpmath"))] = "auto",
    *,
    precision: int = 128,
    radius: str | None = None,
    output: Annotated[Outputs, Writes(DRAWINGS)] = (),
    seed: int = 0,
    progress: Any,
) -> Reply:
    """Determine the rank of the matrix in FILE: .npy, .npz, .csv, .mtx or .json.

    Entries are integers, rationals such as "22/7", or decimals such as "0.25". If the rank cannot be
    decided, agattn prints the bounds and ends with exit status 3.

    Args:
        method: exact over the rationals, modulo primes, in balls, or by singular values.
        precision: precision to start from, for ball and mpmath; it is doubled until the rank is separated.
        radius: how far each decimal or float may be from what is written; 0 takes all as exact.  [default:
            half a unit of the last place of floats and of decimals with 16 digits or more]
        output: write the result, or draw the singular values.
    """
    matrix = matrix_in(file, radius)
    result = rank_of(matrix, method, precision=precision, seed=seed)
    for picture in chosen(output, *DRAWINGS):
        from agattn.reports.spectrum import draw

        progress("drawing")
        draw(matrix, result, picture)
    return Reply(result, status=0 if result.rank is not None else 3)
