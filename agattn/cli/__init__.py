"""The command line: one module per command; parses, calls, prints; no mathematics."""

from agattn.cli.main import main

__all__ = ["main"]
