"""The checker of certificates, with Python's integers and nothing else: ``python -m agattn.checker FILE``."""

from agattn.checker.certificate import CLAIMS, FORMAT, Layer, check, described
from agattn.checker.integers import UnreadableError, load

__all__ = ["CLAIMS", "FORMAT", "Layer", "UnreadableError", "check", "described", "load"]
