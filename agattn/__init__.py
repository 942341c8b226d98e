"""agattn: the algebraic geometry of lightning self-attention.

``dir(agattn)`` is the table of contents: architectures, and what can be asked about them. Each name is
imported when it is first used.

>>> import agattn as ag
>>> layer = ag.SingleLayer(d=3, d_out=2, a=2)
>>> print(layer)
M(3,2,2): dimension 13 in ℝ³⁶, t ≥ 2
>>> ag.strata(layer)[2, 1, 2].tangent.singular
True
"""

from importlib import import_module

from agattn._version import __version__

TYPE_CHECKING = False  # true for type checkers; typing takes longer to import than all the rest of this
if TYPE_CHECKING:
    from agattn.algebra.rank import rank_of as rank
    from agattn.architectures import (
        Attention,
        Bilinear,
        Convolution,
        CrossAttention,
        DeepNetwork,
        Jet,
        Linear,
        Network,
        Perceptron,
        PolynomialMap,
        Power,
        Recurrence,
        SingleLayer,
        Skip,
        Sum,
    )
    from agattn.checkpoints.canonical import canonical
    from agattn.checkpoints.coefficients import rlct
    from agattn.checkpoints.coefficients import rlct as learning_coefficient
    from agattn.checkpoints.conversion import convert
    from agattn.checkpoints.head_geometry import classify
    from agattn.checkpoints.published import from_config
    from agattn.checkpoints.same_model import equivalent
    from agattn.claims.network_dimension import dimension
    from agattn.documents import schema
    from agattn.engines.emit import emit_task as emit
    from agattn.engines.emit import emit_task as script
    from agattn.engines.locate import examine as doctor
    from agattn.engines.run import run_task as run
    from agattn.errors import AgattnError, InputError
    from agattn.evidence import Evidence, Status, Verdict
    from agattn.experiments.studies.study import study_grid as study
    from agattn.experiments.training.training import train_architecture as train
    from agattn.geometry.critical_points.real_points import critical_points_near
    from agattn.geometry.dimension.contact import contact_spectrum as spectrum
    from agattn.geometry.dimension.lie_algebra import linear_symmetries as symmetries
    from agattn.geometry.ideal.invariants import invariants
    from agattn.geometry.identifiability.identifiability import identifiability
    from agattn.geometry.identifiability.network_fibers import fiber
    from agattn.geometry.identifiability.weights import weights
    from agattn.geometry.reconstruction.membership import identify
    from agattn.geometry.singular_points.singularities import singularities
    from agattn.geometry.strata.strata import Stratum
    from agattn.geometry.strata.tangent import tangent_space
    from agattn.reports.figures import figure
    from agattn.reports.report import report
    from agattn.verification.certificate import certificate
    from agattn.verification.checked import check
    from agattn.verification.critical_points import critical_points
    from agattn.verification.ideal import degree, hilbert_function, ideal, read
    from agattn.verification.strata_table import strata_table as strata
    from agattn.verification.verify import verify

#: Where the names are that are no verbs; where verbs are, :data:`agattn.library.VERBS` says.
_HOMES = {
    "agattn.architectures": (
        "Attention", "Bilinear", "Convolution", "CrossAttention", "DeepNetwork", "Jet", "Linear", "Network",
        "Perceptron", "PolynomialMap", "Power", "Recurrence", "SingleLayer", "Skip", "Sum",
    ),
    "agattn.errors": ("AgattnError", "InputError"),
    "agattn.evidence": ("Evidence", "Status", "Verdict"),
    "agattn.geometry.strata.strata": ("Stratum",),
}  # fmt: skip

__all__ = [
    "AgattnError", "Attention", "Bilinear", "Convolution", "CrossAttention", "DeepNetwork", "Evidence",
    "InputError", "Jet", "Linear", "Network", "Perceptron", "PolynomialMap", "Power", "Recurrence",
    "SingleLayer", "Skip", "Status", "Stratum", "Sum", "Verdict", "__version__", "canonical", "certificate",
    "check", "classify", "convert", "critical_points", "critical_points_near", "degree", "dimension",
    "doctor", "emit", "equivalent", "fiber", "figure", "from_config", "hilbert_function", "ideal",
    "identifiability", "identify", "invariants", "learning_coefficient", "rank", "read", "report", "rlct",
    "run", "schema", "script", "singularities", "spectrum", "strata", "study", "symmetries",
    "tangent_space", "train", "verify", "weights",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for, so that the checker and ``--help`` load nothing heavy."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    if name in __all__:
        found: object = import_module("agattn.library").verb(name)
        return found
    raise AttributeError(f"module 'agattn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
