"""Finished jobs, kept in a folder: a database of JSON documents that several studies may share (diskcache).

What is read back is checked: a document that is damaged, or about another job than its key says, is as good
as none. Nothing is ever unpickled.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agattn.errors import InputError
from agattn.experiments.studies.jobs import canonical, key_of

_DATABASE = "cache.db"
#: Seconds that are waited for others who change the database.
_PATIENCE = 300.0


def default_folder() -> Path:
    """``$AGATTN_CACHE``, else ``$XDG_CACHE_HOME/agattn``, else ``~/.cache/agattn``."""
    if named := os.environ.get("AGATTN_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "agattn")


class Cache:
    """A folder of finished jobs; it is made when the first is kept.

    >>> import tempfile
    >>> from agattn.experiments.studies.jobs import Job, SingleLayer
    >>> from agattn.experiments.studies.study import study
    >>> kept = Cache(Path(tempfile.mkdtemp(), "kept"))
    >>> [line] = study([Job(SingleLayer(2, 1), "strata")], cache=kept)
    >>> kept.get(line["key"])["result"] == line["result"], kept.get("0" * 64)
    (True, None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened: Any = None

    def _database(self) -> Any:
        if self._opened is None:
            import diskcache

            class OnlyJSON(diskcache.JSONDisk):  # type: ignore[misc]
                def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
                    """Read a value in the database itself; never a pickle, nor another file."""
                    if mode != diskcache.core.MODE_RAW:
                        raise ValueError(f"{filename} is no JSON")
                    return super().fetch(mode, filename, value, read)

            # Write-ahead logs and mapped files need memory that the machines of a cluster do not share.
            settings = {"sqlite_journal_mode": "delete", "sqlite_mmap_size": 0, "disk_min_file_size": 2**30}
            with self._alone():
                self._opened = diskcache.Cache(
                    self.folder, _PATIENCE, OnlyJSON, eviction_policy="none", **settings
                )
        return self._opened

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process open the database meanwhile, which takes dozens of changes, one by one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some file systems that machines share have no such locks
                fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def get(self, key: str) -> dict[str, Any] | None:
        """What was kept under a key; ``None`` if there is nothing, or nothing sound."""
        if not (self.folder / _DATABASE).exists():
            return None
        try:
            document = self._database().get(key)
            line = document["line"]
            sound = (
                line["key"] == key == key_of(line["job"], line["architecture"], line["versions"])
                and document["sha256"] == _checksum(line)
                and "result" in line
            )
        except Exception:  # a damaged file has many ways to fail, and none of them matters
            return None
        return dict(line) if sound else None

    def put(self, line: dict[str, Any]) -> None:
        """Keep a finished job.

        A database that is damaged is set aside under another name, and a new one begun.

        Raises:
            InputError: if the folder cannot be written.
        """
        document = {"sha256": _checksum(line), "line": line}
        self._change(lambda: self._database().set(line["key"], document))

    def open(self) -> None:
        """Make what :meth:`put` needs, so that its errors are raised before there is anything to keep."""
        self._change(self._database)

    def _change(self, change: Callable[[], object]) -> None:
        try:
            try:
                _patiently(change)
            except Exception as error:
                if not _is_damage(error):
                    raise
                self._opened = None
                (self.folder / _DATABASE).rename(self.folder / f"{_DATABASE}.damaged")
                _patiently(change)
        except Exception as error:  # of the system, of SQLite, or diskcache.Timeout
            held = "another process holds the database" if _is_timeout(error) else type(error).__name__
            reason = getattr(error, "strerror", None) or str(error) or held
            raise InputError(
                f"cannot keep results in {self.folder}: {reason}; choose another folder with "
                "--cache, or --no-cache"
            ) from error


def _patiently(change: Callable[[], object]) -> None:
    """Change the database, again where SQLite gives up at once as two processes wait for each other."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            change()
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not busy or time.monotonic() > end:
                raise
        time.sleep(random.uniform(0.01, 0.2))


def _is_damage(error: Exception) -> bool:
    """Whether an error comes from what is in the database, and not from this machine or another process."""
    if isinstance(error, sqlite3.Error):
        damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
        return error.sqlite_errorcode & 0xFF in damage
    return not (isinstance(error, (OSError, MemoryError, ImportError)) or _is_timeout(error))


def _is_timeout(error: Exception) -> bool:
    return type(error).__name__ == "Timeout"  # of diskcache


def _checksum(line: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(line).encode()).hexdigest()
