"""The version, in the one place from which the package and the documentation read it."""

__version__ = "0.1.0"
