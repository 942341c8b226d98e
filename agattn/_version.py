"""The version, in the one place from which the package and the documentation read it."""

__version__ = "1.0.0"
