"""One layer of Llama-3-8B's size: what the commands about checkpoints need, beside what nobody can avoid.

    python benchmarks/large_layer.py [--width 4096] [--command NAME ...] [--workers N]

A checkpoint of one layer with random parameters in float32 is written, and a copy of the same function: the
stream is rotated, the values of each group get another basis, neurons another order. The sizes are those of
Llama-3-8B (32 heads, 8 groups, 14,336 neurons) or, with ``--width``, in proportion; the vocabulary has twice
as many tokens as the width. Each command is a process: seconds on the clock and of processors, and the most
memory.

Below stand three limits, each in this process: to read the bytes of one file from the disk's cache; to make
them float64; and the products of matrices that move one layer into the basis of another, in float64 by BLAS.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rivals import header
from safetensors.numpy import load_file, save_file

Arrays = dict[str, Any]
LAYER = "model.layers.0"
COMMANDS = {
    "classify": "classify A",
    "equivalent": "equivalent A B",
    "canonical": "canonical A -O canonical.safetensors",
    "convert": "convert A --kv-heads {half} -O converted",
}


def config(d: int) -> dict[str, Any]:
    """The configuration of a layer of width d, as Llama has it."""
    return {
        "model_type": "llama", "hidden_size": d, "num_hidden_layers": 1, "num_attention_heads": d // 128,
        "num_key_value_heads": d // 512, "intermediate_size": 7 * d // 2, "vocab_size": 2 * d,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu",
        "tie_word_embeddings": False, "attention_bias": False, "mlp_bias": False,
    }  # fmt: skip


def layer(d: int, rng: np.random.Generator) -> Arrays:
    """Random tensors in float32, with gains of 1."""
    n, kv = 7 * d // 2, d // 4
    shapes = {
        "self_attn.q_proj": (d, d), "self_attn.k_proj": (kv, d), "self_attn.v_proj": (kv, d),
        "self_attn.o_proj": (d, d), "mlp.gate_proj": (n, d), "mlp.up_proj": (n, d), "mlp.down_proj": (d, n),
    }  # fmt: skip
    shapes = {f"{LAYER}.{name}": shape for name, shape in shapes.items()}
    shapes |= {"model.embed_tokens": (2 * d, d), "lm_head": (2 * d, d)}
    tensors = {
        f"{name}.weight": rng.standard_normal(shape, dtype=np.float32) / np.float32(shape[1] ** 0.5)
        for name, shape in shapes.items()
    }
    norms = (f"{LAYER}.input_layernorm", f"{LAYER}.post_attention_layernorm", "model.norm")
    return tensors | {f"{name}.weight": np.ones(d, np.float32) for name in norms}


def copy(tensors: Arrays, d: int, rng: np.random.Generator) -> Arrays:
    """The same function by other tensors, each rounded once."""
    R = np.linalg.qr(rng.standard_normal((d, d)))[0]
    order = rng.permutation(7 * d // 2)
    moved = {name: tensor.astype(float) for name, tensor in tensors.items()}
    values, outputs = f"{LAYER}.self_attn.v_proj.weight", f"{LAYER}.self_attn.o_proj.weight"
    for group in range(d // 512):
        M = np.linalg.qr(rng.standard_normal((128, 128)))[0] * rng.uniform(0.5, 2.0, 128)
        rows = slice(128 * group, 128 * (group + 1))
        moved[values][rows] = M @ moved[values][rows]
        for head in range(4 * group, 4 * group + 4):
            columns = slice(128 * head, 128 * (head + 1))
            moved[outputs][:, columns] = moved[outputs][:, columns] @ np.linalg.inv(M)
    for name, tensor in moved.items():
        if "down_proj" in name:
            moved[name] = R @ tensor[:, order]
        elif "o_proj" in name:
            moved[name] = R @ tensor
        elif tensor.ndim == 2:
            moved[name] = (tensor[order] if "mlp" in name else tensor) @ R.T
    return {name: tensor.astype(np.float32) for name, tensor in moved.items()}


def write(folder: Path, tensors: Arrays, d: int) -> None:
    """A checkpoint: its configuration and its tensors."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config(d)), encoding="utf-8")
    save_file(
        {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, folder / "model.safetensors"
    )


def write_both(folder: Path, d: int) -> None:
    """A and B, its copy."""
    rng = np.random.default_rng(0)
    tensors = layer(d, rng)
    write(folder / "A", tensors, d)
    write(folder / "B", copy(tensors, d, rng), d)


def command(line: str, folder: Path) -> str:
    """A row: the seconds and the memory of a command, and how its answer begins."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", "agattn", *line.split()],
            cwd=folder, stdout=printed, stderr=subprocess.STDOUT, env=environment,
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        printed.seek(0)
        lines = [line for line in printed.read().decode().splitlines() if line]
    spent = used.ru_utime + used.ru_stime
    return row(f"agattn {line}", seconds, spent, used.ru_maxrss / 2**20) + f": {'; '.join(lines[:2])[:90]}"


def row(what: str, seconds: float, spent: float, memory: float | None = None) -> str:
    """Seconds on the clock, of processors, and GiB."""
    gib = f"{memory:6.2f}" if memory is not None else " " * 6
    return f"{seconds:8.2f} {spent:8.2f} {gib}  {what}"


def limit(what: str, do: Callable[[], Any]) -> str:
    """A row for what is done in this process."""
    start, spent = time.perf_counter(), time.process_time()
    do()
    return row(what, time.perf_counter() - start, time.process_time() - spent)


def main() -> None:
    """Print a row for each command, and the limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=4096, help="a multiple of 1024")
    parser.add_argument("--workers", type=int, help="threads; by default as the commands choose")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="one command alone")
    options = parser.parse_args()
    d, rng = options.width, np.random.default_rng(0)
    print(header().splitlines()[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: what this one holds would count as memory of the commands that it starts.
        writer = multiprocessing.Process(target=write_both, args=(folder, d))
        writer.start()
        writer.join()
        print(f"width {d}, float32\n{'clock s':>8} {'CPU s':>8} {'GiB':>6}")
        for asked in options.command or COMMANDS:
            line = COMMANDS[asked].format(half=d // 1024)
            line += f" --workers {options.workers}" if options.workers else ""
            print(command(line, folder), flush=True)
        print(limit("limit: read one file", lambda: load_file(folder / "A" / "model.safetensors")))
        tensors = load_file(folder / "A" / "model.safetensors")
        print(limit("limit: make it float64", lambda: [x.astype(float) for x in tensors.values()]))
        R = np.linalg.qr(rng.standard_normal((d, d)))[0]
        readers = [x.astype(float) for x in tensors.values() if x.ndim == 2]
        products = [x if x.shape[1] == d else x.T for x in readers]
        print(limit("limit: move one layer into another basis, float64", lambda: [x @ R for x in products]))


if __name__ == "__main__":
    main()
