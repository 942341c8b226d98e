"""The names of agattn, each once: what can be asked, which function answers, and with which documents.

The face (:mod:`agattn.library`), the command line, the schemas and the reference are made from this table.
Nothing is imported here: a function and a result stand as ``module:name``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: What each exit status says, of every command.
STATUSES = {
    0: "all confirmed or inapplicable",
    1: "a claim was refuted",
    2: "bad input",
    3: "something stayed undecided",
    4: "an engine failed and nothing else could decide",
    70: "agattn itself failed",
    130: "interrupted",
    141: "nobody read the output to its end",
}


class VerbEntry(NamedTuple):
    """A verb of the face.

    Attributes:
        function: that answers, as ``module:function``.
        about: the line about the command of the same name; empty where there is none.
        results: the classes of the documents that the command prints, as ``module:class``.
        refused: what the exit status 1 says; empty where the command never ends with it.
        command: the line of a shell that answers, where no command has the name of the verb.
    """

    function: str
    about: str = ""
    results: tuple[str, ...] = ()
    refused: str = ""
    command: str = ""


_GEOMETRY = "agattn.geometry"

#: The commands in groups by what one wants; the main group, and the main command of each, comes first.
GROUPS: Mapping[str, Mapping[str, VerbEntry]] = {
    "Check the theorems": {
        "verify": VerbEntry(
            "agattn.verification.verify:verify",
            "Check every claim of the paper for one architecture.",
            ("agattn.verification.report:Report",),
            STATUSES[1],
        ),
        "certificate": VerbEntry(
            "agattn.verification.certificate:certificate",
            "Write integers that prove verdicts, for anyone to check.",
            ("agattn.verification.certificate:CertifiedClaims",),
            "a refutation is certified",
        ),
        "check": VerbEntry(
            "agattn.verification.checked:check",
            "Verify a certificate with integers alone.",
            ("agattn.verification.checked:Checked",),
            "not valid",
        ),
    },
    "Study a layer or model": {
        "dimension": VerbEntry(
            "agattn.claims.network_dimension:dimension",
            "Compute the exact dimension of any network.",
            (
                "agattn.claims.network_dimension:DimensionByPaper",
                "agattn.checkpoints.transformers:TransformerDimension",
            ),
        ),
        "identifiability": VerbEntry(
            f"{_GEOMETRY}.identifiability.identifiability:identifiability",
            "Say which parameters, and which products of them, the function determines.",
            (f"{_GEOMETRY}.identifiability.identifiability:Identifiability",),
        ),
        "symmetries": VerbEntry(
            f"{_GEOMETRY}.dimension.lie_algebra:linear_symmetries",
            "Find all linear symmetries of the weights of any polynomial architecture.",
            (f"{_GEOMETRY}.dimension.lie_algebra:LinearSymmetries",),
        ),
        "strata": VerbEntry(
            "agattn.verification.strata_table:strata_table",
            "List the orbits of the neuromanifold: every point at once, with its tangent space.",
            ("agattn.verification.strata_table:StrataTable",),
        ),
        "ideal": VerbEntry(
            "agattn.verification.ideal:ideal",
            "Find the equations of the neuromanifold, with their symmetry.",
            (
                f"{_GEOMETRY}.ideal.model_ideal:ModelIdeal",
                f"{_GEOMETRY}.strata.closures:StratumIdeal",
                "agattn.engines.elimination:ExaminedIdeal",
            ),
        ),
        "singularities": VerbEntry(
            f"{_GEOMETRY}.singular_points.singularities:singularities",
            "Decide which kinds of points of a network or model are critical or singular.",
            (f"{_GEOMETRY}.singular_points.singularities:Singularities",),
        ),
        "rlct": VerbEntry(
            "agattn.checkpoints.coefficients:rlct",
            "Compute learning coefficients: of one layer exactly, of other models by bounds.",
            (
                f"{_GEOMETRY}.learning_coefficients.learning_coefficients:WeightsCoefficient",
                f"{_GEOMETRY}.learning_coefficients.learning_coefficients:HeadsCoefficients",
                f"{_GEOMETRY}.learning_coefficients.brackets:CoefficientBounds",
                f"{_GEOMETRY}.learning_coefficients.learning_coefficients:LearningCoefficients",
            ),
        ),
        "spectrum": VerbEntry(
            f"{_GEOMETRY}.dimension.contact:contact_spectrum",
            "Find how fast the singular values of a Jacobian fall as scores vanish.",
            (f"{_GEOMETRY}.dimension.contact:ContactSpectrum",),
        ),
        "critical-points": VerbEntry(
            "agattn.verification.critical_points:critical_points",
            "Count the critical points of a squared loss, by strata.",
            (
                f"{_GEOMETRY}.critical_points.real_points:NearbyCriticalPoints",
                f"{_GEOMETRY}.critical_points.counts:CriticalPoints",
            ),
        ),
    },
    "Weights in hand": {
        "classify": VerbEntry(
            "agattn.checkpoints.head_geometry:classify",
            "Place the heads of a checkpoint on the neuromanifold.",
            ("agattn.checkpoints.head_geometry:PlacedHead", "agattn.checkpoints.head_geometry:HeadTable"),
        ),
        "fiber": VerbEntry(
            f"{_GEOMETRY}.identifiability.network_fibers:fiber",
            "Describe all weights that compute the same function.",
            (
                f"{_GEOMETRY}.identifiability.network_fibers:NetworkFiber",
                f"{_GEOMETRY}.identifiability.weights:Fiber",
            ),
        ),
        "equivalent": VerbEntry(
            "agattn.checkpoints.same_model:equivalent",
            "Decide whether two files of weights are the same function, and by which symmetry.",
            (
                f"{_GEOMETRY}.identifiability.equivalence:Equivalence",
                "agattn.checkpoints.same_model:SameModel",
                "agattn.checkpoints.model_distance:ModelDistance",
            ),
            "different functions",
        ),
        "identify": VerbEntry(
            f"{_GEOMETRY}.reconstruction.membership:identify",
            "Recover weights from a coefficient tensor, or say why there are none.",
            (f"{_GEOMETRY}.reconstruction.membership:Identification",),
        ),
        "canonical": VerbEntry(
            "agattn.checkpoints.canonical:canonical",
            "Write a checkpoint in its canonical form: the same function, once for all copies.",
            ("agattn.checkpoints.canonical:CanonicalForm",),
        ),
        "convert": VerbEntry(
            "agattn.checkpoints.conversion:convert",
            "Write the nearest checkpoint with fewer keys and values, and prove that none is nearer.",
            ("agattn.checkpoints.conversion:Conversion",),
        ),
    },
    "Engines": {
        "emit": VerbEntry(
            "agattn.engines.emit:emit_task",
            "Print a script for Macaulay2, Singular or msolve.",
            ("agattn.engines.emit:Script",),
        ),
        "run": VerbEntry(
            "agattn.engines.run:run_task",
            "Emit a script, run it, and read the answer back.",
            ("agattn.engines.run:Run",),
        ),
        "read": VerbEntry(
            "agattn.verification.ideal:read",
            "Read an answer or an ideal of others, and compare it.",
            ("agattn.verification.ideal:AnswerRead",),
            "another answer",
        ),
        "doctor": VerbEntry(
            "agattn.engines.locate:examine",
            "Find Macaulay2, Singular and msolve, and try each.",
            ("agattn.engines.locate:Doctor",),
        ),
    },
    "Experiments": {
        "train": VerbEntry(
            "agattn.experiments.training.training:train_architecture",
            "Train attention from many seeds, and say where in the geometry the runs end.",
            ("agattn.experiments.training.training:TrainedRun",),
        ),
        "study": VerbEntry(
            "agattn.experiments.studies.study:study_grid",
            "Ask one question about many architectures: cached, resumed, in parallel.",
            ("agattn.experiments.studies.jobs:StudyLine",),
            STATUSES[1],
        ),
    },
    "Documents": {
        "report": VerbEntry(
            "agattn.reports.report:report",
            "Write everything about one architecture, or a study, as one document.",
            ("agattn.reports.document:SavedReport",),
            STATUSES[1],
        ),
        "figure": VerbEntry(
            "agattn.reports.figures:figure",
            "Recompute figures 1, 2 and 3 of the paper.",
            (
                "agattn.reports.figure1:Figure1",
                "agattn.reports.figure2:Figure2",
                "agattn.reports.figure3:Figure3",
            ),
        ),
        "schema": VerbEntry("agattn.documents:schema", "Print the JSON schema of a command's output."),
    },
    "Tools": {
        "rank": VerbEntry(
            "agattn.algebra.rank:rank_of",
            "Find the rank of a matrix, and say how it is known.",
            ("agattn.algebra.rank:RankResult",),
        ),
    },
}

#: Every command by its name.
COMMANDS: Mapping[str, VerbEntry] = {name: verb for group in GROUPS.values() for name, verb in group.items()}

#: Every verb by its name in Python; some have no command of their own.
VERBS: Mapping[str, VerbEntry] = {
    **{name.replace("-", "_"): verb for name, verb in COMMANDS.items()},
    "critical_points_near": VerbEntry(
        f"{_GEOMETRY}.critical_points.real_points:critical_points_near",
        command="agattn critical-points --weights",
    ),
    "degree": VerbEntry("agattn.verification.ideal:degree", command="agattn ideal"),
    "from_config": VerbEntry("agattn.checkpoints.published:from_config", command="agattn dimension FILE"),
    "hilbert_function": VerbEntry("agattn.verification.ideal:hilbert_function", command="agattn ideal"),
    "invariants": VerbEntry(f"{_GEOMETRY}.ideal.invariants:invariants", command="agattn ideal --invariants"),
    "learning_coefficient": COMMANDS["rlct"]._replace(command="agattn rlct"),
    "script": COMMANDS["emit"]._replace(command="agattn emit"),
    "tangent_space": VerbEntry(f"{_GEOMETRY}.strata.tangent:tangent_space", command="agattn strata"),
    "weights": VerbEntry(f"{_GEOMETRY}.identifiability.weights:weights"),
}
