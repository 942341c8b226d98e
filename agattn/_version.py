"""The version, in the one place from which the package and the documentation read it."""

__version__ = "2.0.0"
