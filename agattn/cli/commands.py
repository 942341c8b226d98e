"""The commands by name, in groups by what one wants: folders, lines of help, modules, and exit statuses."""

#: Of each folder its title in the overview, and the commands in it with their one-line help, so that the
#: overview needs none of their imports. The main group, and the main command of each, comes first.
FOLDERS = {
    "theorems": (
        "Check the theorems",
        {
            "verify": "Check every claim of the paper for one architecture.",
            "audit": "Check every claim on every small architecture, and state the pattern.",
            "certificate": "Write integers that prove verdicts, for anyone to check.",
            "check": "Verify a certificate with integers alone.",
        },
    ),
    "architectures": (
        "Study a layer or model",
        {
            "dimension": "Compute the exact dimension of any network.",
            "identifiability": "Say which parameters, and which products of them, the function determines.",
            "symmetries": "Find all linear symmetries of the weights of any polynomial architecture.",
            "strata": "List the orbits of the neuromanifold: every point at once, with its tangent space.",
            "ideal": "Find the equations of the neuromanifold, with their symmetry.",
            "singularities": "Decide which kinds of points of a network or model are critical or singular.",
            "rlct": "Compute learning coefficients: of one layer exactly, of other models by bounds.",
            "spectrum": "Find how fast the singular values of a Jacobian fall as scores vanish.",
            "critical-points": "Count the critical points of a squared loss, by strata.",
        },
    ),
    "weights": (
        "Weights in hand",
        {
            "classify": "Place the heads of a checkpoint on the neuromanifold.",
            "fiber": "Describe all weights that compute the same function.",
            "equivalent": "Decide whether two files of weights are the same function, and by which symmetry.",
            "identify": "Recover weights from a coefficient tensor, or say why there are none.",
        },
    ),
    "engines": (
        "Engines",
        {
            "emit": "Print a script for Macaulay2, Singular or msolve.",
            "run": "Emit a script, run it, and read the answer back.",
            "doctor": "Find Macaulay2, Singular and msolve, and try each.",
        },
    ),
    "experiments": (
        "Experiments",
        {
            "train": "Train attention from many seeds, and say where in the geometry the runs end.",
            "calibrate": "Try estimators of learning coefficients where the coefficients are known.",
            "study": "Ask one question about many architectures: cached, resumed, in parallel.",
            "atlas": "Survey small networks: where the dimension formulas are met.",
        },
    ),
    "documents": (
        "Documents",
        {
            "report": "Write everything about one architecture, or a study, as one document.",
            "figure": "Recompute the paper's figures, or draw a loss, a slice or a spectrum.",
            "schema": "Print the JSON schema of a command's output.",
        },
    ),
    "tools": (
        "Tools",
        {
            "rank": "Find the rank of a matrix, and say how it is known.",
        },
    ),
}

#: What to type for words that are no command, but that one may try.
INSTEAD = {
    **dict.fromkeys(
        ("list", "ls", "commands", "tasks", "claims"),
        "agattn --help lists the commands, agattn verify --list the claims, agattn emit --list the tasks",
    ),
    **dict.fromkeys(("degree", "hilbert-function", "hilbert", "generators"), "agattn ideal finds it"),
    **dict.fromkeys(("script", "print", "export"), "agattn emit prints scripts"),
    **dict.fromkeys(
        ("plot", "draw", "show"), "agattn figure draws, and so do agattn strata --hasse and report"
    ),
    **dict.fromkeys(("engines", "install", "check-engines"), "agattn doctor finds the engines"),
    **dict.fromkeys(("lambda", "llc", "learning-coefficient"), "agattn rlct computes learning coefficients"),
    "invariants": "agattn ideal --invariants has them",
    "tangent-space": "agattn strata has the tangent space at every point",
    "critical-points-near": "agattn critical-points --weights finds them",
    "version": "agattn --version prints it",
    "prove": "agattn verify proves, and agattn certificate writes down what it proved",
}

#: The help of every command by its name.
COMMANDS = {name: about for _, commands in FOLDERS.values() for name, about in commands.items()}

#: The module of every command by its name.
MODULES = {
    name: f"agattn.cli.{folder}.{name.replace('-', '_')}"
    for folder, (_, commands) in FOLDERS.items()
    for name in commands
}

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

#: What the status 1 says of each command that may end with it. No other command does.
REFUSALS = {
    **dict.fromkeys(("verify", "audit", "report", "study"), STATUSES[1]),
    "certificate": "a refutation is certified",
    "check": "not valid",
    "equivalent": "different functions",
}
