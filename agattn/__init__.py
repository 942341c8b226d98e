"""agattn: the algebraic geometry of lightning self-attention.

>>> from agattn import DeepNetwork, SingleLayer
>>> print(SingleLayer(d=3, d_out=2, a=2))
M(3,2,2): expected dim 13 in ℝ³⁶, t ≥ 2
"""

from agattn._version import __version__
from agattn.architectures import DeepNetwork, SingleLayer
from agattn.evidence import Evidence, Judgement, Verdict

__all__ = ["DeepNetwork", "Evidence", "Judgement", "SingleLayer", "Verdict", "__version__"]
