r"""Which known symmetry takes one set of weights to another: layer after layer, by linear equations.

Between two layers acts a group GL(n) or a factor for each neuron, and neurons can be permuted; so can the
heads of a layer, and each has its own GL(a) and a factor between A and V. Go through the layers from the
input on. Once the columns of a layer's matrices are as they must be, the group elements of its heads solve
linear equations, Q' = gQ and K' = sK; then the rows of its last matrix give the permutation and the factors
of neurons, or W' = gW the element of GL(n). The product of these is applied at each step; where it ends in
the other weights exactly, it is proved that both have one function. Nothing is concluded where it does not:
symmetries that are new, rotations of rotary positions, or matrices of lower rank may be behind that.

>>> import agattn as ag
>>> from agattn.geometry.identifiability.families import ExactWeights
>>> model = ag.Network([ag.Perceptron([2, 1], degree=3)], dim=2)
>>> one = ExactWeights(model, {"W_1_1": [[1, 2], [3, 1]], "W_1_2": [[2, 5]]})
>>> other = ExactWeights(model, {"W_1_1": [[3, 1], [-1, -2]], "W_1_2": [[5, -2]]})
>>> for step in connecting(one, other) or []:
...     print(step)
neurons 2, 1 with factors 1, −1 (W_1_1, W_1_2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from agattn.algebra.arithmetic import Array
from agattn.architectures import Architecture, Symmetry
from agattn.geometry.identifiability.families import ExactWeights
from agattn.geometry.identifiability.gauge import change_of_basis, inverse
from agattn.sheet.result import Key, Positive, Result

Arrays = dict[str, Array]


class SymmetryStep(Result):
    """One symmetry of a product."""

    name: Key[str, "`GL(a)`, `GL(d)`, `scaling`, ...; `neurons`; or `heads`."]
    parameters: Key[tuple[str, ...], "The arrays that the symmetry moves."]
    order: Key[tuple[Positive, ...], "Of neurons and heads: where each comes from, from 1; else empty."] = ()
    matrix: Key[
        tuple[tuple[Fraction, ...], ...], "The element of GL(n), or a row of factors; exact, as text."
    ] = ()

    def summary(self) -> str:
        """The symmetry with its element, and what it moves."""
        numbers = [", ".join(str(x).replace("-", "−") for x in row) for row in self.matrix]
        parts = [", ".join(map(str, self.order))] if self.order else []
        if self.matrix:
            word = "with factors" if self.name == "neurons" else "by"
            rows = "; ".join(numbers)
            parts.append(f"{word} {rows if len(numbers) == 1 else f'({rows})'}")
        return f"{self.name} {' '.join(parts)} ({', '.join(self.parameters)})"


def act(arrays: Arrays, symmetry: Symmetry, g: Array, back: Array) -> None:
    """Let a group element g, with inverse ``back``, act on exact arrays, which change."""
    for acted in symmetry.on:
        part = arrays[acted.parameter][acted.index]
        if acted.axis is None:
            part[...] = part * (g if acted.weight > 0 else back)[0, 0] ** abs(acted.weight)
        else:
            rows = np.moveaxis(part, acted.axis, 0)
            rows[...] = np.tensordot(back.T if acted.dual else g, rows, axes=1)


def connecting(one: ExactWeights, other: ExactWeights) -> tuple[SymmetryStep, ...] | None:
    """Known symmetries whose product takes weights exactly to other weights; ``None`` if none are found."""
    arrays, target = one.exact(), other.exact()
    steps: list[SymmetryStep] = []
    for label, inside, after in _in_order(one.architecture):
        steps += _heads(label, arrays, target)
        for symmetry in inside:
            steps += _element(symmetry, arrays, target)
        neurons = [symmetry for symmetry in after if symmetry.name == "neuron"]
        for group in _wires(neurons):
            steps += _neurons(group, arrays, target)
        for symmetry in after:
            if symmetry not in neurons:
                steps += _element(symmetry, arrays, target)
    if any((arrays[name] != array).any() for name, array in target.items()):
        return None
    return tuple(steps)


def _label(parameter: str) -> str:
    """What the parameters of one layer have in common: "1_2" of W_1_2."""
    return parameter.partition("_")[2]


def _first(symmetry: Symmetry) -> Any:
    """The part from which the element is found: of a head Q, else the first that is not dual."""
    parts = [acted for acted in symmetry.on if not acted.dual]
    return next((acted for acted in parts if acted.parameter.startswith("Q_")), parts[0])


def _in_order(architecture: Architecture) -> Iterator[tuple[str, list[Symmetry], list[Symmetry]]]:
    """The layers from the input on, each with the symmetries inside it, and those between it and the next."""
    for label in dict.fromkeys(map(_label, architecture.shapes)):
        own = [s for s in architecture.symmetries if _label(_first(s).parameter) == label]
        inside = [s for s in own if {_label(acted.parameter) for acted in s.on} == {label}]
        yield label, inside, [s for s in own if s not in inside]


def _wires(neurons: Sequence[Symmetry]) -> list[list[Symmetry]]:
    """The neurons by what they act on."""
    groups: dict[tuple[str, ...], list[Symmetry]] = {}
    for symmetry in neurons:
        groups.setdefault(tuple(acted.parameter for acted in symmetry.on), []).append(symmetry)
    return list(groups.values())


def _heads(label: str, arrays: Arrays, target: Arrays) -> list[SymmetryStep]:
    """Permute the heads of a layer so that each KᵀQ is a multiple of the one it must become."""
    names = tuple(name for name in arrays if _label(name) == label and arrays[name].ndim == 3)
    K, Q = f"K_{label}", f"Q_{label}"
    if K not in names or Q not in names or len(arrays[K]) < 2:
        return []
    forms, wanted = (
        [(k.T @ q).ravel() for k, q in zip(given[K], given[Q], strict=True)] for given in (arrays, target)
    )
    order = _matched(forms, wanted)
    if order is None or order == sorted(order):
        return []
    for name in names:
        arrays[name] = arrays[name][order]
    return [SymmetryStep("heads", names, tuple(i + 1 for i in order))]


def _neurons(group: Sequence[Symmetry], arrays: Arrays, target: Arrays) -> list[SymmetryStep]:
    """Permute neurons and scale them, so that what comes into each is what must."""

    def incoming(given: Arrays) -> list[Array]:
        return [
            np.concatenate([given[a.parameter][a.index].ravel() for a in neuron.on if a.weight > 0])
            for neuron in group
        ]

    lines, wanted = incoming(arrays), incoming(target)
    order = _matched(lines, wanted)
    if order is None:
        return []
    before = {name: arrays[name].copy() for name in dict.fromkeys(a.parameter for a in group[0].on)}
    for neuron, source in zip(group, order, strict=True):
        for acted, of in zip(neuron.on, group[source].on, strict=True):
            arrays[acted.parameter][acted.index] = before[of.parameter][of.index]
    factors = []
    for neuron, line, i in zip(group, wanted, order, strict=True):
        factors.append(s := _ratio(lines[i], line) or Fraction(1))
        act(arrays, neuron, np.array([[s]]), np.array([[1 / s]]))
    if order == sorted(order) and set(factors) == {1}:
        return []
    return [SymmetryStep("neurons", tuple(before), tuple(i + 1 for i in order), (tuple(factors),))]


def _matched(lines: Sequence[Array], wanted: Sequence[Array]) -> list[int] | None:
    """For each vector that is wanted one of the others, each once, that is a multiple of it."""
    left, order = list(range(len(lines))), []
    for line in wanted:
        found = next((i for i in left if _ratio(lines[i], line) is not None), None)
        if found is None:
            return None
        left.remove(found)
        order.append(found)
    return order


def _ratio(of: Array, to: Array) -> Fraction | None:
    """The s ≠ 0 with to = s·of; 1 if both are 0; ``None`` if there is none."""
    if not of.any() or not to.any():
        return None if of.any() or to.any() else Fraction(1)
    at = int(np.flatnonzero(of)[0])
    s = Fraction(to[at]) / Fraction(of[at])
    return s if s and (of * s == to).all() else None


def _matrix(symmetry: Symmetry, arrays: Arrays, target: Arrays) -> Array | None:
    """The element of GL(n) that makes a part what it must be, or for some entries of the first part alone.

    Another group may act on the first part, too: GL(s) mixes all Q of a group of heads; GL(a) is told by K.
    """
    first, found = _first(symmetry), None
    for acted in sorted(symmetry.on, key=lambda acted: acted is not first):
        parts = (given[acted.parameter][acted.index] for given in (arrays, target))
        rows, to = (np.moveaxis(part, acted.axis or 0, 0).reshape(symmetry.size, -1) for part in parts)
        g = change_of_basis(rows, to)
        if g is not None and (g @ rows == to).all():
            return g if not acted.dual else None if (back := inverse(g)) is None else back.T
        found = g if acted is first else found
    return found


def _element(symmetry: Symmetry, arrays: Arrays, target: Arrays) -> list[SymmetryStep]:
    """Apply the element of a group that makes its first part what it must be, if there is exactly one."""
    acted = _first(symmetry)
    part, wanted = (given[acted.parameter][acted.index] for given in (arrays, target))
    if acted.axis is None:
        s = _ratio(part.ravel(), wanted.ravel())
        g = None if s is None else np.array([[s if acted.weight > 0 else 1 / s]])
    else:
        g = _matrix(symmetry, arrays, target)
    back = inverse(g)
    if g is None or back is None or (g == np.eye(symmetry.size, dtype=int)).all():
        return []
    if symmetry.is_orthogonal and (back != g.T).any():
        return []  # in GL(n), and not in the group
    act(arrays, symmetry, g, back)
    names = tuple(dict.fromkeys(acted.parameter for acted in symmetry.on))
    return [SymmetryStep(symmetry.name, names, (), tuple(tuple(map(Fraction, row)) for row in g.tolist()))]
