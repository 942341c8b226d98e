"""A script for an engine, as it is shown and saved."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from agattn.architectures.model_file import STUDIED, Studied
from agattn.evidence import EngineName
from agattn.files import write
from agattn.sheet.result import Described, Key, Written

if TYPE_CHECKING:
    from agattn.architectures import Architecture


class Script(Described, str, name="emit", extensible=True):
    """A script for an engine: a text, shown without quotes, with the task and the engine that it is for."""

    task: Key[str, "The name of the task."]
    engine: Key[str, "The engine that the script is for.", Written(EngineName)]
    architecture: Key[Studied, STUDIED]
    script: Key[str, "The script itself."]

    def __new__(cls, script: str, task: str, engine: str, architecture: Architecture) -> Script:
        """A script for the engine of this name."""
        made = super().__new__(cls, script)
        made.script, made.task, made.engine, made.architecture = script, task, engine, architecture
        return made

    def summary(self) -> str:
        """What it is, in a line."""
        return f"{self.task} of {self.architecture.name}, for {self.engine}"

    def __str__(self) -> str:
        return self.script

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.script)}</pre>"

    def save(self, path: str | Path) -> None:
        """Write the script into a file."""
        write(path, self.script)
