"""The small changes of a file: each replaces one piece of its text, and keeps the number of its lines."""

import ast
import re
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"), ast.In: ("in", "not in"), ast.NotIn: (r"not\s+in", "in"),
}  # fmt: skip
OPERATIONS = {
    ast.Add: (r"\+", "-"), ast.Sub: ("-", "+"), ast.Mult: (r"\*", "+"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "+"), ast.Pow: (r"\*\*", "*"), ast.LShift: ("<<", ">>"),
    ast.BitXor: (r"\^", "|"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"),
    ast.BitOr: (r"\|", "&"), ast.MatMult: ("@", "*"),
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
#: What no change is made in: types, texts, and what an error says.
LEFT_ALONE = {"annotation", "returns", "type_params", "exc", "msg"}


@dataclass(frozen=True)
class Change:
    """One piece of text, from byte ``start`` to byte ``end`` of a file, that is replaced."""

    file: str
    place: str  #: the function or class, by its qualified name
    line: int  #: where the piece begins
    statement: int  #: where its statement begins
    start: int
    end: int
    new: str
    before: str  #: the line, and what follows where the piece has more lines
    after: str
    whole: tuple[int, int]  #: where the statement of the file begins and ends in which the piece is

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The change by the text of the source, which other lines may move."""
        return self.file, self.place, self.before, self.after

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


class Finder:
    """Collects the changes of a file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: dict[tuple[int, int, str], Change] = {}
        for node in ast.parse(source).body:
            first = min(inner.lineno for inner in (node, *getattr(node, "decorator_list", ())))
            self.whole = self.starts[first - 1], self.offsets(node)[1]
            self.visit(node, "", first)

    def offsets(self, node):
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def add(self, start, end, new):
        """Keep a change, with the whole lines before and after it."""
        old = self.source[start:end]
        lost = old.count(b"\n") - new.count("\n")
        if lost:  # the lines behind stay where they are
            new = new + "\n" * lost if new == "pass" else f"({new}" + "\n" * lost + ")"
        first = self.source.count(b"\n", 0, start)
        last = self.source.count(b"\n", 0, end)
        left, right = self.starts[first], self.starts[last + 1]
        before = self.source[left:right]
        after = self.source[left:start] + new.encode() + self.source[end:right]
        words = [" ".join(text.decode().split()) for text in (before, after)]
        change = Change(self.file, self.place, first + 1, self.statement, start, end, new, *words, self.whole)
        self.found[start, end, new] = change

    def between(self, left, right, old, new):
        """Replace an operator, which stands between two nodes."""
        start, end = self.offsets(left)[1], self.offsets(right)[0]
        if match := re.search(
            old.encode(), re.sub(rb"#[^\n]*", lambda m: b" " * len(m[0]), self.source[start:end])
        ):
            self.add(start + match.start(), start + match.end(), new)

    def visit(self, node, place, statement):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        ):
            return
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dataclass":
            return  # whether it is frozen, and how it prints
        if isinstance(node, ast.stmt):
            statement = node.lineno
        self.place, self.statement = place, statement
        self.at_statement(node)
        if made := getattr(self, f"at_{type(node).__name__}", None):
            made(node)
        inner = place
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{place}.{node.name}" if place else node.name
        for name, value in ast.iter_fields(node):
            if name in LEFT_ALONE:
                continue
            below = inner if name == "body" else place
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child, below, statement)

    def at_Compare(self, node):
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
            self.between(left, right, *COMPARISONS[type(op)])

    def at_BinOp(self, node):
        if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return
        if self.place or not isinstance(node.op, ast.BitOr):  # where no function is, | joins types
            self.between(node.left, node.right, *OPERATIONS[type(node.op)])

    def at_AugAssign(self, node):
        self.between(node.target, node.value, *OPERATIONS[type(node.op)])

    def at_BoolOp(self, node):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, old, new)

    def at_UnaryOp(self, node):
        start, _ = self.offsets(node)
        if isinstance(node.op, ast.Not | ast.USub):
            inner = self.offsets(node.operand)[0]
            sign = 3 if isinstance(node.op, ast.Not) else 1
            self.add(start, start + sign, " " if inner == start + sign else "")

    def at_Constant(self, node):
        start, end = self.offsets(node)
        if isinstance(node.value, bool):
            self.add(start, end, str(not node.value))
        elif isinstance(node.value, int | float):
            self.add(
                start, end, f"({node.value!r} + 1)" if isinstance(node.value, float) else str(node.value + 1)
            )

    def at_Call(self, node):
        if not isinstance(node.func, ast.Name):
            return
        if new := NAMES.get(node.func.id):
            self.add(*self.offsets(node.func), new)
        if node.func.id == "range" and node.args:
            stop = node.args[min(1, len(node.args) - 1)]
            if isinstance(stop, ast.Name | ast.Attribute | ast.Call):
                self.add(*self.offsets(stop), f"{ast.unparse(stop)} - 1")

    def at_Return(self, node):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.add(*self.offsets(node.value), "None")

    def at_statement(self, node):
        """Drop a statement."""
        gone = ast.Raise | ast.Continue | ast.Break
        if isinstance(node, gone) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            self.add(*self.offsets(node), "pass")

    def at_If(self, node):
        self.add(*self.offsets(node.test), "True")

    def at_comprehension(self, node):
        for condition in node.ifs:
            self.add(*self.offsets(condition), "True")


def readable(change: Change, source: bytes) -> bool:
    """Whether the file is still Python with the change."""
    left, right = change.whole
    try:
        ast.parse(source[left : change.start] + change.new.encode() + source[change.end : right])
    except SyntaxError:
        return False
    return True


def changes(file: str, source: bytes) -> list[Change]:
    """All small changes of a file, in the order of its text."""
    return sorted(Finder(file, source).found.values(), key=lambda change: (change.start, change.end))


class _Probes(ast.NodeTransformer):
    """Puts a call before each statement that says: here this line was reached."""

    def __init__(self, file):
        self.file = file

    def visit(self, node):
        self.generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                setattr(node, name, [new for old in body for new in self.with_probe(old, old is body[0])])
        return node

    def with_probe(self, node, first):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if (is_text and first) or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            return [node]
        call = ast.parse(f"if {node.lineno} not in _lines_: _reached_({self.file!r}, {node.lineno}, _lines_)")
        call = call.body[0]
        return [call, node]


def with_probes(file: str, source: bytes) -> str:
    """The source of a file that tells which of its statements are reached."""
    tree = _Probes(file).visit(ast.parse(source))
    head = ast.parse(
        "try:\n    from tests.mutations.reached import reached as _reached_\n"
        "except ImportError:\n    def _reached_(file, line, lines): pass\n_lines_ = set()"
    ).body
    start = 1 if ast.get_docstring(tree) is not None else 0
    while isinstance(tree.body[start], ast.ImportFrom) and tree.body[start].module == "__future__":
        start += 1
    tree.body[start:start] = head
    return ast.unparse(ast.fix_missing_locations(tree))
