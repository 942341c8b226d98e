"""The commands by name: the folder of each, one line of help, and its module."""

#: Name and one-line help of every command, by folder, so that the overview needs none of their imports.
FOLDERS = {
    "engines": {
        "doctor": "Find Macaulay2, Singular and msolve, and try each.",
        "emit": "Print a script for Macaulay2, Singular or msolve.",
        "run": "Emit a script, run it, and read the answer back.",
    },
    "geometry": {
        "classify": "Place the heads of a checkpoint on the neuromanifold.",
        "critical-points": "Count the critical points of a squared loss, by strata.",
        "dimension": "Compute the exact dimension of any network.",
        "equivalent": "Decide whether two files of weights are the same function, and by which symmetry.",
        "fiber": "Describe all weights that compute the same function.",
        "ideal": "Find the equations of the neuromanifold, with their symmetry.",
        "identify": "Recover weights from a coefficient tensor, or say why there are none.",
        "rank": "Find the rank of a matrix, and say how it is known.",
        "rlct": "Compute learning coefficients of one layer, exactly.",
        "singularities": "Ask of each kind of points of a network whether it is critical or singular.",
        "strata": "List the orbits of the neuromanifold: every point at once, with its tangent space.",
        "symmetries": "Find all linear symmetries of the weights of any polynomial architecture.",
    },
    "reports": {
        "figure": "Recompute the paper's figures.",
        "report": "Write everything about one architecture, or a study, as one document.",
        "schema": "Print the JSON schema of a command's output.",
    },
    "experiments": {
        "atlas": "Survey small networks: where the dimension formulas are met.",
        "calibrate": "Try estimators of learning coefficients on weights where they are known.",
        "study": "Ask one question about many architectures: cached, resumed, in parallel.",
        "train": "Train attention from many seeds, and say where in the geometry it ends.",
    },
    "verification": {
        "audit": "Put every claim to every small architecture, and state the pattern.",
        "check": "Verify a certificate with integers alone.",
        "verify": "Check every claim of the paper for one architecture.",
    },
}

#: The help of every command by its name.
COMMANDS = {name: about for commands in FOLDERS.values() for name, about in commands.items()}

#: The module of every command by its name.
MODULES = {
    name: f"agattn.cli.{folder}.{name.replace('-', '_')}"
    for folder, commands in FOLDERS.items()
    for name in commands
}
