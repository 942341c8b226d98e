"""Straight-line programs: a function of arrays as the list of its operations, run for many inputs at once.

A function is called once on nodes, which record what is done with them. Equal operations on equal nodes are
one node, so what a function computes twice is in the program once. A program runs over any
:class:`~agattn.algebra.arithmetic.Arithmetic`: residues, rationals, balls, polynomials, or the arrays of
:mod:`agattn.algebra.tracing`, which carry derivatives.

*Arrays stay arrays*: a product of two matrices is one operation. *Small ones run together*: the level of an
operation is the length of the longest way to it from the arguments, and all operations of one kind, on one
level, on operands of the same small shapes, are one operation on stacked operands. Sums of sums that nothing
else needs are one sum. So a list of a thousand products costs as many calls of numpy as one array of them.

>>> import numpy as np
>>> from agattn.algebra.arithmetic import RingArithmetic
>>> trace = Trace()
>>> a = trace.node("argument", (), "a", (2,))
>>> first, second = (trace.node("view", (a,), (i,), ()) for i in range(2))
>>> products = tuple(trace.node("*", pair, None, ()) for pair in ((first, first), (first, second)))
>>> program = StraightLine(trace, trace.node("stack", products, None, (2,)))
>>> program.operations  # both products run together
1
>>> program.run(RingArithmetic(), {"a": np.array([[2, 3], [4, 5]], dtype=object)}).tolist()
[[4, 6], [16, 20]]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array, Places

Kind = Literal["argument", "constant", "view", "transpose", "stack", "+", "-", "neg", "*", "@", "sum"]

#: Operations on arrays of at most so many entries run together; of larger ones copies cost more than calls.
SMALL = 64


class Operation:
    """One operation of a trace.

    Attributes:
        call: the trace that it belongs to.
        number: its place there, behind those of its operands.
        kind: ``argument`` and ``constant`` have no operands; ``view`` is an index, ``transpose`` exchanges
            the last two axes, ``stack`` puts operands along a new first axis; the others compute.
        operands: nodes.
        static: the name of an argument, the exact numbers of a constant, the index of a view as a tuple, the
            axis of a sum counted from the end; else ``None``.
        shape: without the axis for the inputs.
    """

    __slots__ = ("call", "kind", "number", "operands", "shape", "static")

    def __init__(
        self, call: Trace, kind: Kind, operands: tuple[Any, ...], static: Any, shape: tuple[int, ...]
    ) -> None:
        self.call, self.kind, self.operands, self.static, self.shape = call, kind, operands, static, shape
        self.number = len(call.nodes)
        call.nodes.append(self)


class Trace:
    """The operations of one call of a function, in their order.

    Attributes:
        nodes: all of them.
        known: nodes by what two equal ones have in common.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.known: dict[Any, Any] = {}

    def node(self, kind: Kind, operands: tuple[Any, ...], static: Any, shape: tuple[int, ...]) -> Operation:
        """The operation, which is made if it is new.

        >>> trace = Trace()
        >>> one, other = (trace.node("constant", (), (1,), ()) for _ in range(2))
        >>> one is other
        True
        """
        key = (kind, hashable(static), shape, *(one.number for one in operands))
        if key not in self.known:
            self.known[key] = Operation(self, kind, operands, static, shape)
        operation: Operation = self.known[key]
        return operation

    def written(self) -> list[tuple[Any, ...]]:
        """All operations as plain data; equal for two calls that do the same in the same order."""
        return [
            (one.kind, one.shape, one.static, *(other.number for other in one.operands)) for one in self.nodes
        ]


# --- operands: where the numbers of an operation come from ---


@dataclass(frozen=True)
class _Whole:
    """A value as it is, with axes of length 1 in front of its own."""

    source: int
    missing: int = 0

    def __call__(self, values: list[Array], arithmetic: Arithmetic) -> Array:
        a = values[self.source]
        return a[(slice(None), *[None] * self.missing)] if self.missing else a


@dataclass(frozen=True)
class _Entries:
    """Entries of some values: those of each one after the other, and then in the order and shape wanted."""

    pieces: tuple[tuple[int, Places], ...]
    order: Places | None

    def __call__(self, values: list[Array], arithmetic: Arithmetic) -> Array:
        parts = [arithmetic.entries(values[source], places) for source, places in self.pieces]
        if self.order is None:
            return parts[0]
        return arithmetic.entries(arithmetic.concatenate(parts), self.order)


_Operand = _Whole | _Entries


@dataclass(frozen=True)
class _Instruction:
    """An operation, whose result is the next value.

    ``static`` is that of the node. Of a sum of many summands it is how many are added and subtracted, and
    the axis along which each of the two stand.
    """

    kind: str
    operands: tuple[_Operand, ...]
    static: Any

    def run(self, values: list[Array], arithmetic: Arithmetic) -> Array:
        """The result."""
        operands = [operand(values, arithmetic) for operand in self.operands]
        if self.kind != "+-":
            return _result(self.kind, self.static, operands, arithmetic)
        one, *others = operands
        plus, minus, axis = self.static
        sides = [
            side.sum(axis=axis) if count > 1 else side
            for side, count in zip((one, *others), filter(None, (plus, minus)), strict=True)
        ]
        if not plus:
            return arithmetic.clean(-sides[0])
        return arithmetic.clean(sides[0] - sides[1] if minus else sides[0])


def _result(kind: str, static: Any, operands: Sequence[Array], arithmetic: Arithmetic) -> Array:
    """The result of one operation of a trace."""
    one, *others = operands
    match kind:
        case "*":
            return arithmetic.times(one, *others)
        case "@":
            return arithmetic.matmul(one, *others)
        case "+":
            return arithmetic.clean(one + others[0])
        case "-":
            return arithmetic.clean(one - others[0])
        case "neg":
            return arithmetic.clean(-one)
        case "sum":
            return arithmetic.clean(one.sum(axis=static))
        case "view":
            return one[(slice(None), *static)]
        case "transpose":
            return one.swapaxes(-1, -2)
    return arithmetic.concatenate([part[:, None] for part in operands])  # a stack


class StraightLine:
    """A trace up to one of its nodes, ready to run.

    Args:
        trace: of a function.
        output: what the function returned.

    Attributes:
        operations: how many there are; each takes a few calls of numpy.
        numbers: how many scalars a run holds for each input.
    """

    def __init__(self, trace: Trace, output: Operation) -> None:
        self._trace, self._last = trace, output
        compiler = _Compiler(trace, output)
        self._arguments, self._constants = compiler.arguments, compiler.constants
        self._instructions, self._output = compiler.instructions, compiler.whole(output)
        self.operations = len(self._instructions)
        self.numbers = compiler.numbers

    def run(self, arithmetic: Arithmetic, arguments: Mapping[str, Array]) -> Array:
        """The output, with the axis of the inputs in front.

        Args:
            arithmetic: that of the scalars.
            arguments: by name, with an axis in front whose length is 1 or the number of inputs.
        """
        if arithmetic.one_by_one:
            return self._one_by_one(arithmetic, arguments)
        values = [arguments[name] if shape else arguments[name][:, None] for name, shape in self._arguments]
        values += [arithmetic.constant(numbers) for numbers in self._constants]
        for instruction in self._instructions:
            values.append(instruction.run(values, arithmetic))
        return self._output(values, arithmetic)

    def _one_by_one(self, arithmetic: Arithmetic, arguments: Mapping[str, Array]) -> Array:
        """The output, without running small operations together: each operation as the function wrote it."""
        values: dict[int, Array] = {}
        for node in _needed(self._trace, self._last):
            if node.kind == "argument":
                values[node.number] = arguments[node.static]
                continue
            if node.kind == "constant":
                values[node.number] = arithmetic.constant(_objects(node.static, (1, *node.shape)))
                continue
            operands = [values[one.number] for one in node.operands]
            if node.kind in ("*", "+", "-"):
                missing = (len(node.shape) - len(one.shape) for one in node.operands)
                operands = [
                    a[(slice(None), *[None] * axes)] for a, axes in zip(operands, missing, strict=True)
                ]
            values[node.number] = _result(node.kind, node.static, operands, arithmetic)
        return values[self._last.number]


# --- compiling ---


def _small(node: Operation) -> bool:
    """Whether operations like this one are run together."""
    return all(prod(one.shape) <= SMALL for one in (node, *node.operands))


class _Compiler:
    """The way from a trace to instructions.

    A *value* is an array at run time: an argument, constants, or the result of an instruction. A node is a
    value, or entries of values: an operation that runs with others is a part of their common result, and a
    view of few entries or a list of small parts says only where they are.
    """

    def __init__(self, trace: Trace, output: Operation) -> None:
        self.arguments: list[tuple[str, tuple[int, ...]]] = []
        self.constants: list[Array] = []
        self.instructions: list[_Instruction] = []
        self.numbers = 0
        self._shapes: list[tuple[int, ...]] = []  # of the values
        self._values: dict[int, int] = {}  # of the nodes that are values
        self._places: dict[int, tuple[Any, Any]] = {}  # of nodes: values, and flat places in these
        needed = _needed(trace, output)
        self._leaves(needed)
        self._summands = _summands(needed)
        for level in self._levels(needed):
            for (kind, static, *_), nodes in level.items():
                self._compile(kind, static, nodes)

    def _leaves(self, needed: Sequence[Operation]) -> None:
        """Arguments, then constants: single numbers in one array, arrays by themselves."""
        for node in needed:
            if node.kind == "argument":
                self.arguments.append((node.static, node.shape))
                self._add([node], node.shape or (1,))
        numbers = [node for node in needed if node.kind == "constant" and not node.shape]
        if numbers:
            self.constants.append(_objects([node.static[0] for node in numbers], (1, len(numbers))))
            self._add(numbers, (len(numbers),))
        for node in needed:
            if node.kind == "constant" and node.shape:
                self.constants.append(_objects(node.static, (1, *node.shape)))
                self._add([node], node.shape)

    def _add(self, nodes: Sequence[Operation], shape: tuple[int, ...]) -> None:
        """A value that is a node, or has nodes of one shape along its first axis."""
        source, size = len(self._shapes), prod(nodes[0].shape)
        self._shapes.append(shape)
        self.numbers += prod(shape)
        if nodes[0].shape == shape:
            self._values[nodes[0].number] = source
            return
        for place, node in enumerate(nodes):
            flat: Any = place
            if node.shape:
                flat = np.arange(place * size, (place + 1) * size).reshape(node.shape)
            self._places[node.number] = source, flat

    def _levels(self, needed: Sequence[Operation]) -> list[dict[Any, list[Operation]]]:
        """The nodes that are instructions: level by level, and there those together that run together."""
        level: dict[int, int] = {}
        levels: list[dict[Any, list[Operation]]] = []
        for node in needed:
            summands = self._summands.get(node.number)
            if summands == ():
                continue  # a part of another sum
            operands = node.operands if summands is None else (*summands[0], *summands[1])
            own = max((level[one.number] for one in operands), default=-1)
            runs = self._runs(node)
            level[node.number] = own = own + runs
            if not runs:
                continue
            if summands is None:
                key: tuple[Any, ...] = node.kind, hashable(node.static), *(one.shape for one in operands)
            else:
                key = "+-", (len(summands[0]), len(summands[1])), node.shape
            if not _small(node):
                key = *key, node.number
            levels += [{} for _ in range(own + 1 - len(levels))]
            levels[own].setdefault(key, []).append(node)
        return levels

    def _runs(self, node: Operation) -> bool:
        """Whether a node is an instruction; the others only say where entries are."""
        if node.kind in ("view", "transpose"):
            return prod(node.shape) > SMALL and self._is_array(node.operands[0])
        if node.kind == "stack":
            return self._is_array(node)
        return node.kind not in ("argument", "constant")

    def _is_array(self, node: Operation) -> bool:
        """Whether a large node is a value: all are but lists of small parts, and views of such lists."""
        while node.kind in ("view", "transpose"):
            node = node.operands[0]
        if node.kind != "stack":
            return True
        return any(prod(part.shape) > SMALL and self._is_array(part) for part in node.operands)

    def _compile(self, kind: str, static: Any, nodes: Sequence[Operation]) -> None:
        """The instruction that does all these nodes."""
        first = nodes[0]
        if not _small(first):
            dimensions = len(first.shape) if kind in ("*", "+", "-") else 0
            operands = [self.whole(one, dimensions) for one in first.operands]
            self.instructions.append(_Instruction(kind, tuple(operands), first.static))
            self._add([first], first.shape)
            return
        if kind == "+-":
            sides = list(zip(*(self._summands[node.number] for node in nodes), strict=True))
            operands = [self._stacked(side) for side in sides if side[0]]
            static = (*static, -1 - len(first.shape))
        else:
            dimensions = len(first.shape) if kind in ("*", "+", "-") else 0
            operands = [
                self._stacked([[node.operands[i]] for node in nodes], dimensions)
                for i in range(len(first.operands))
            ]
            static = first.static
        self.instructions.append(_Instruction(kind, tuple(operands), static))
        self._add(nodes, (len(nodes), *first.shape))

    # --- operands ---

    def places(self, node: Operation) -> tuple[Any, Any]:
        """The values that the entries of a node are in, and their flat places there.

        Both have the shape of the node; the value is one number where it is the same for all.
        """
        if node.number in self._places:
            return self._places[node.number]
        if node.number in self._values:
            own = self._values[node.number], np.arange(prod(node.shape)).reshape(node.shape)
            self._places[node.number] = own
            return own
        chain = [node]  # no recursion: functions may be deep
        while (last := chain[-1]).kind in ("view", "transpose"):
            if last.operands[0].number in self._places or last.operands[0].number in self._values:
                break
            chain.append(last.operands[0])
        for one in reversed(chain):
            if one.kind == "stack":
                parts = [self.places(part) for part in one.operands]
                inner = one.shape[1:]
                sources, flats = (
                    np.array([np.broadcast_to(part[side], inner) if inner else part[side] for part in parts])
                    for side in (0, 1)
                )
                pair: tuple[Any, Any] = sources, flats
            else:
                source, flat = self.places(one.operands[0])
                source = source if isinstance(source, int) else _viewed(one, source)
                pair = source, _viewed(one, flat)
            self._places[one.number] = pair
        return self._places[node.number]

    def whole(self, node: Operation, dimensions: int = 0) -> _Operand:
        """One node as an operand, with at least so many axes."""
        missing = max(0, dimensions - len(node.shape))
        if node.number in self._values:
            return _Whole(self._values[node.number], missing)
        source, flat = self.places(node)
        shape = (1,) * missing + node.shape
        return self._operand(np.broadcast_to(source, node.shape).reshape(shape), np.reshape(flat, shape))

    def _stacked(self, rows: Sequence[Sequence[Operation]], dimensions: int = 0) -> _Operand:
        """Nodes of one shape along a first axis; several in a row along a second one."""
        shape = rows[0][0].shape
        places = [self.places(node) for row in rows for node in row]
        front: tuple[int, ...] = (len(rows),) if len(rows[0]) == 1 else (len(rows), len(rows[0]))
        front += (1,) * max(0, dimensions - len(shape))
        if not shape:
            sources, flat = (np.array([place[side] for place in places]) for side in (0, 1))
        else:
            sources, flat = (
                np.array([np.broadcast_to(place[side], shape) for place in places]) for side in (0, 1)
            )
        return self._operand(sources.reshape(front + shape), flat.reshape(front + shape))

    def _operand(self, sources: Any, flat: Any) -> _Operand:
        """Entries by their values and flat places."""
        one = int(sources.flat[0])
        if (sources == one).all():
            shape = self._shapes[one]
            if flat.shape == shape and (flat.ravel() == np.arange(flat.size)).all():
                return _Whole(one)
            return _Entries(((one, Places(shape, flat)),), None)
        self.numbers += flat.size
        pieces, order, start = [], np.empty(flat.shape, dtype=np.intp), 0
        for source in np.unique(sources).tolist():
            chosen = sources == source
            pieces.append((source, Places(self._shapes[source], flat[chosen])))
            count = len(pieces[-1][1].flat)
            order[chosen] = np.arange(start, start + count)
            start += count
        return _Entries(tuple(pieces), Places((start,), order))


def _needed(trace: Trace, output: Operation) -> list[Operation]:
    """The nodes that an output depends on, in their order."""
    needed = {output.number}
    for node in reversed(trace.nodes[: output.number + 1]):
        if node.number in needed:
            needed.update(one.number for one in node.operands)
    return [trace.nodes[number] for number in sorted(needed)]


def _summands(needed: Sequence[Operation]) -> dict[int, Any]:
    """What is added and what is subtracted in small sums; of a part of another sum the empty tuple."""
    uses: dict[int, int] = defaultdict(int)
    for node in needed:
        for one in node.operands:
            uses[one.number] += 1
    summands: dict[int, Any] = {}
    for node in needed:
        if node.kind not in ("+", "-", "neg") or any(one.shape != node.shape for one in node.operands):
            continue
        if not _small(node):
            continue
        total: tuple[list[Operation], list[Operation]] = [], []
        for place, one in enumerate(node.operands):
            subtracted = node.kind == "neg" or (node.kind == "-" and place == 1)
            part: tuple[list[Operation], list[Operation]] = [one], []
            if summands.get(one.number) and uses[one.number] == 1:
                part, summands[one.number] = summands[one.number], ()
            part = part[::-1] if subtracted else part
            if sum(map(len, part)) > sum(map(len, total)):  # so that no long sum is copied
                total, part = part, total
            for side, more in zip(total, part, strict=True):
                side.extend(more)
        summands[node.number] = total
    return summands


def _viewed(node: Operation, array: Any) -> Any:
    """What a view or a transpose makes of an array of the shape of its operand."""
    return array.swapaxes(-1, -2) if node.kind == "transpose" else np.asarray(array)[node.static]


def _objects(numbers: Sequence[Any], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array.reshape(shape)


def hashable(static: Any) -> Any:
    """An index with slices as a key; slices are hashable from Python 3.12 on."""
    if not isinstance(static, tuple):
        return static
    return tuple(
        ("slice", one.start, one.stop, one.step) if isinstance(one, slice) else one for one in static
    )
