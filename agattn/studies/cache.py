"""Finished jobs, kept as one file each.

A file is written under another name and then renamed, so that a reader sees all of it or nothing, even when
several studies share a folder. A file that is damaged, or that is about another job than its name says, is as
good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from pathlib import Path
from typing import Any

from agattn.errors import InputError
from agattn.studies.jobs import canonical, key_of


def default_folder() -> Path:
    """``$AGATTN_CACHE``, else ``$XDG_CACHE_HOME/agattn``, else ``~/.cache/agattn``."""
    if named := os.environ.get("AGATTN_CACHE"):
        return Path(named)
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named, "agattn")
    return Path("~/.cache/agattn").expanduser()


class Cache:
    """A folder of finished jobs.

    >>> import tempfile
    >>> from agattn.studies.jobs import key_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Cache(Path(folder))
    ...     job, shape, versions = {"ask": "strata"}, {"d": 2}, {"agattn": "1"}
    ...     key = key_of(job, shape, versions)
    ...     line = {"key": key, "job": job, "architecture": shape, "versions": versions, "result": {}}
    ...     kept.put(line)
    ...     kept.get(key) == line, kept.get("0" * 64)
    (True, None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Where the job of a key is kept."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """What was kept under a key; ``None`` if there is nothing, or nothing sound."""
        try:
            document = json.loads(self.path(key).read_text(encoding="utf-8"))
            line = document["line"]
            sound = (
                line["key"] == key == key_of(line["job"], line["architecture"], line["versions"])
                and document["sha256"] == _checksum(line)
                and "result" in line
            )
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None
        return dict(line) if sound else None

    def put(self, line: dict[str, Any]) -> None:
        """Keep a finished job.

        Raises:
            InputError: if the folder cannot be written.
        """
        path = self.path(line["key"])
        text = json.dumps({"sha256": _checksum(line), "line": line}, ensure_ascii=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.stem}-{uuid.uuid4().hex}.part")
            try:
                temporary.write_text(text, encoding="utf-8")
                temporary.replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    temporary.unlink()
                raise
        except OSError as error:
            raise InputError(
                f"cannot keep results in {self.folder}: {error.strerror}; choose another folder with "
                "--cache, or --no-cache"
            ) from error


def _checksum(line: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(line).encode()).hexdigest()
