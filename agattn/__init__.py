"""agattn: the algebraic geometry of lightning self-attention.

``dir(agattn)`` is the table of contents: architectures, and what can be asked about them. Each name is
imported when it is first used.

>>> import agattn as ag
>>> layer = ag.SingleLayer(d=3, d_out=2, a=2)
>>> print(layer)
M(3,2,2): expected dim 13 in ℝ³⁶, t ≥ 2
>>> ag.strata(layer)[2, 1, 2].tangent.singular
True
"""

from importlib import import_module

from agattn._version import __version__

TYPE_CHECKING = False  # true for type checkers; typing takes longer to import than all the rest of this
if TYPE_CHECKING:
    from agattn.architectures import (
        Attention,
        Convolution,
        DeepNetwork,
        Linear,
        Network,
        Perceptron,
        PolynomialMap,
        Power,
        SingleLayer,
        Skip,
        Sum,
    )  # fmt: skip
    from agattn.errors import AgattnError, InputError
    from agattn.evidence import Evidence, Status, Verdict
    from agattn.geometry.strata.strata import Stratum
    from agattn.library import (
        certificate,
        check,
        classify,
        critical_points,
        critical_points_near,
        dimension,
        equivalent,
        fiber,
        ideal,
        identify,
        learning_coefficient,
        run,
        script,
        singularities,
        strata,
        symmetries,
        tangent_space,
        train,
        verify,
        weights,
    )

_HOMES = {
    "agattn.architectures": (
        "Attention", "Convolution", "DeepNetwork", "Linear", "Network", "Perceptron", "PolynomialMap",
        "Power", "SingleLayer", "Skip", "Sum",
    ),
    "agattn.errors": ("AgattnError", "InputError"),
    "agattn.evidence": ("Evidence", "Status", "Verdict"),
    "agattn.geometry.strata.strata": ("Stratum",),
    "agattn.library": (
        "certificate", "check", "classify", "critical_points", "critical_points_near", "dimension",
        "equivalent", "fiber", "ideal", "identify", "learning_coefficient", "run", "script",
        "singularities", "strata", "symmetries", "tangent_space", "train", "verify",
        "weights",
    ),
}  # fmt: skip

__all__ = [
    "AgattnError", "Attention", "Convolution", "DeepNetwork", "Evidence", "InputError", "Linear",
    "Network", "Perceptron", "PolynomialMap", "Power", "SingleLayer", "Skip", "Status", "Stratum", "Sum",
    "Verdict", "__version__", "certificate", "check", "classify", "critical_points",
    "critical_points_near", "dimension",
    "equivalent", "fiber", "ideal", "identify", "learning_coefficient", "run", "script", "singularities",
    "strata", "symmetries", "tangent_space", "train", "verify", "weights",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for, so that the checker and ``--help`` load nothing heavy."""
    for home, names in _HOMES.items():
        if name in names:
            module = import_module(home)
            found = getattr(module, name)
            return module.in_python(found) if home == "agattn.library" else found
    raise AttributeError(f"module 'agattn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
