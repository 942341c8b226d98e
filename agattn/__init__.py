"""agattn: the algebraic geometry of lightning self-attention.

>>> from agattn import DeepNetwork, SingleLayer
>>> print(SingleLayer(d=3, d_out=2, a=2))
M(3,2,2): expected dim 13 in ℝ³⁶, t ≥ 2
"""

from importlib import import_module
from typing import TYPE_CHECKING

from agattn._version import __version__

if TYPE_CHECKING:
    from agattn.architectures import DeepNetwork, SingleLayer
    from agattn.evidence import Evidence, Status, Verdict

__all__ = ["DeepNetwork", "Evidence", "SingleLayer", "Status", "Verdict", "__version__"]

_HOMES = {
    "agattn.architectures": ("DeepNetwork", "SingleLayer"),
    "agattn.evidence": ("Evidence", "Status", "Verdict"),
}


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for, so that the checker and ``--help`` load nothing heavy."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'agattn' has no attribute {name!r}")
