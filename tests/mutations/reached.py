"""What files with probes call: writes down the statements that are reached, in every process of a test."""

import os

_LINES: dict[str, set[int]] = {}


def reached(file: str, line: int, lines: set[int]) -> None:
    """Add a statement to the list of this test; ``lines`` are those of the file that it has reached."""
    _LINES[file] = lines
    lines.add(line)
    if path := os.environ.get("MUTATIONS_REACHED"):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{file}:{line}\n".encode())
        os.close(handle)


def taken() -> dict[str, list[int]]:
    """The statements that were reached since this was called last, by file."""
    for lines in _LINES.values():
        lines.clear()
    path = os.environ["MUTATIONS_REACHED"]
    found: dict[str, set[int]] = {}
    if os.path.exists(path):  # noqa: PTH110
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            for line in file:
                name, _, number = line.rpartition(":")
                found.setdefault(name, set()).add(int(number))
        os.truncate(path, 0)
    return {name: sorted(lines) for name, lines in found.items()}
