"""Files: text is read up to a limit of its size; a file is written whole, or what was there stays."""

from __future__ import annotations

import fcntl
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from agattn.errors import InputError, was_interrupted

#: The most bytes of a text that is read, where nothing else is said; what is made of it takes more.
LARGEST_TEXT = 64 * 2**20
#: Where what this process has open can be opened again.
_OPENED = ("/dev/fd/", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self/fd/")
#: The verbs of sentences about files.
_VERBS = ("is", "has", "holds", "names", "needs", "announces", "does", "should", "cannot")


def check_file(path: Path) -> None:
    """Refuse what would keep a reader waiting, or reading, for ever: a named pipe, a device, a socket.

    The pipe that a shell puts in the place of ``<(command)`` is none of these.

    Raises:
        InputError: if the path is that of something else than a file or a folder.

    >>> check_file(Path("/dev/zero"))
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: /dev/zero is no file but a device; give a file, or - for the standard input
    """
    if path.is_file() or path.is_dir() or not path.exists() or path.as_posix().startswith(_OPENED):
        return
    what = "a named pipe" if path.is_fifo() else "a socket" if path.is_socket() else "a device"
    raise InputError(f"{path} is no file but {what}; give a file, or - for the standard input")


def read_text(path: Path, most: int = LARGEST_TEXT, instead: str = "") -> str:
    """The text in a file, without the mark with which some editors begin it, and with the line ends of Unix.

    Args:
        most: bytes that it may have.
        instead: what the message says to do where it has more.

    Raises:
        InputError: if the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        check_file(path)
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > most:
        raise InputError(f"{path} has more than {most // 2**20} MiB, the limit for such a file{instead}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def about(where: object) -> Iterator[None]:
    """Begin the message of an error with what it is about, the subject of a sentence that begins with a verb.

    Raises:
        InputError: in place of the one that is raised inside.

    >>> with about("a.csv"):
    ...     raise InputError("holds no rows")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: a.csv holds no rows
    """
    try:
        yield
    except InputError as error:
        message = str(error)
        if not message.startswith(str(where)):
            message = f"{where}{' ' if message.partition(' ')[0] in _VERBS else ': '}{message}"
        raise InputError(message) from None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file raises into one line that names the file.

    Raises:
        InputError: if the file cannot be read.

    >>> with reading(Path("a.npz")):
    ...     raise EOFError
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: a.npz is not a whole numpy file
    """
    try:
        with about(path):
            yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{path} is too large for the memory") from None
    except Exception as error:  # what libraries raise for a damaged file has no end
        if was_interrupted(error):
            raise
        if path.suffix.lower() in (".npy", ".npz"):
            raise InputError(f"{path} is not a whole numpy file") from None
        raise InputError(f"{path} is damaged or not a {path.suffix} file of numbers") from None


def parsed(kind: str, text: str, where: object, hint: str = "", **options: Any) -> Any:
    """The document that a text in JSON or TOML holds.

    Args:
        kind: ``"JSON"`` or ``"TOML"``.
        text: of the file.
        where: what messages call it.
        hint: what messages end with.
        options: of :func:`json.loads`.

    Raises:
        InputError: if it is no such text.

    >>> parsed("TOML", "a =", "a.toml")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: a.toml is not TOML: Invalid value (at end of document)
    """
    try:
        return json.loads(text, **options) if kind == "JSON" else tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{where} is not {kind} that can be read: it is nested too deeply{hint}") from None
    except ValueError as error:
        raise InputError(f"{where} is not {kind}: {error}{hint}") from None


def write(path: str | Path, content: str | bytes) -> None:
    """Write a file, and its folder where there is none; an error leaves what was there.

    The content goes into a file beside it, which is renamed at the end. So neither a full disk nor another
    process that writes the same file leaves a part of it.

    Raises:
        InputError: if it cannot be written.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not can_be_replaced(path):
            path.write_bytes(data)
            return
        target = _named_by(path)
        beside = target.with_name(f".{os.urandom(8).hex()}.part")
        try:
            with beside.open("xb") as file:
                _keep_permissions(target, file.fileno())
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # a full disk may show only here
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def growing(path: Path) -> Iterator[TextIO]:
    """A file that is written line by line under the name ``path.part``, and gets its own at the end.

    After an error or an interrupt ``path`` is as it was, and the other file has the lines so far.

    Raises:
        InputError: if another process is writing it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not can_be_replaced(path):
        with path.open("w", encoding="utf-8") as file:
            yield file
        return
    target = _named_by(path)
    part = target.with_name(f"{target.name}.part")
    with part.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_mine = os.path.samestat(os.fstat(file.fileno()), part.stat())
        except OSError:
            is_mine = False
        if not is_mine:  # or it was, until another process gave it its own name
            raise InputError(f"cannot write {path}: another command is writing it; give another name")
        file.truncate(0)
        _keep_permissions(target, file.fileno())
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                file.flush()
            if not part.stat().st_size:
                part.unlink()
            raise


def _named_by(path: Path) -> Path:
    """The file that a link names, which stays a link."""
    return path.resolve() if path.is_symlink() else path


def can_be_replaced(path: Path) -> bool:
    """Whether a path is that of a file, or of none yet; a device or a pipe is written as it is."""
    return (path.is_file() or not path.exists()) and not path.as_posix().startswith(_OPENED)


def _keep_permissions(target: Path, file: int) -> None:
    """Give a file that will take the place of another one its permissions, if that one may be written."""
    if target.exists():
        with target.open("ab"):
            os.fchmod(file, target.stat().st_mode)
