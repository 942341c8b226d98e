import json
import re
import subprocess
import sys

import pytest
from command_line import ROOT, call, document, run

from agattn._version import __version__
from agattn.cli.commands import COMMANDS, FOLDERS
from agattn.cli.main import main

HEAVY = ("numpy", "flint", "sympy", "rich", "mpmath", "networkx", "jinja2", "jsonschema")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], ["verfy"]])
def test_what_needs_no_mathematics_imports_none(arguments):
    code = (
        "import json, sys\n"
        "from agattn.cli.main import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit: pass\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    assert json.loads(run(code=code).out.splitlines()[-1]) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_imports_no_room(command):
    """Whatever its options are; two commands name in their help what engines declare."""
    code = (
        "import json, sys\n"
        "from agattn.cli.main import main\n"
        f"try: main([{command!r}, '--help'])\n"
        "except SystemExit: pass\n"
        "print(json.dumps(list(sys.modules)))"
    )
    imported = set(json.loads(run(code=code).out.splitlines()[-1]))
    rooms = {name.split(".")[1] for name in imported if name.startswith("agattn.")}
    engines = {"engines"} if command in ("doctor", "emit") else set()
    ground = {
        "_version",
        "check",
        "checker",
        "cli",
        "errors",
        "evidence",
        "files",
        "patience",
        "sheet",
    }
    assert rooms <= ground | engines and not imported & set(HEAVY)


def test_the_check_for_heavy_imports_would_notice():
    code = "import sys; from agattn.reports.document import environment; import agattn.algebra.rank; "
    code += "environment(); print({'numpy', 'flint', 'jinja2'} <= set(sys.modules))"
    assert run(code=code).out.strip() == "True"


def test_a_schema_imports_the_class_of_its_document_and_no_arrays():
    """For two documents whose rooms compute with arrays and tasks, and show their schemas without these."""
    code = (
        "import sys\n"
        "from agattn.cli.main import main\n"
        "for name in ('verify', 'emit'):\n"
        "    try: main(['schema', name])\n"
        "    except SystemExit: pass\n"
        "print({'numpy', 'sympy', 'agattn.systems.catalogue', 'agattn.claims.dimension'} & set(sys.modules))"
    )
    out = run(code=code).out
    assert out.count('"title"') >= 2 and out.splitlines()[-1] == "set()"


def test_help_names_every_command_and_status():
    code, out, _ = call("--help")
    assert code == 0
    assert all(command in out for command in COMMANDS) and "Exit status" in out


def test_help_lists_the_commands_in_groups_and_the_main_one_first():
    out = call("--help")[1]
    titles = [title for title, _ in FOLDERS.values()]
    assert titles[0] == "Check the theorems" and next(iter(COMMANDS)) == "verify"
    places = [out.index(f"\n{title}:\n") for title in titles]
    assert places == sorted(places) and len(set(places)) == 7
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", out, re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize(
    ("command", "sizes", "options", "more"),
    [
        ("verify", "3 2 2", "-d 3 -o 2 -a 2", "--claim 3.3"),
        ("verify", "3 2", "-d 3 -o 2", "--claim 3.3"),
        ("dimension", "4 1", "-d 4 -o 1", "-t 1"),
        ("strata", "2 1", "-d 2 -o 1", ""),
    ],
)
def test_sizes_of_a_layer_are_known_by_their_places(command, sizes, options, more):
    placed, named = (
        json.loads(call(command, *given.split(), *more.split(), "--json").out) for given in (sizes, options)
    )
    for found in (placed, named):
        for timed in (found, *found.get("claims", ())):
            timed.pop("seconds", None)
    assert placed == named


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    code, out, _ = call(command, "--help")
    assert code == 0 and "Example" in out and f"agattn {command}" in out


def test_version():
    assert call("--version")[1].strip() == f"agattn, version {__version__}"


def test_module_and_function_are_one_command():
    message = "agattn: d is 0; it must be a whole number of at least 1\n"
    assert run("emit", "fiber", "-d", "0", "-o", "1") == (2, "", message)


BAD = [
    (["verfy"], "there is no command 'verfy'; did you mean 'verify'?"),
    (["verify"], "Missing option '-d': give a layer, such as -d 2 -o 1, or a network, such as --dims 4,3,4"),
    (["verify", "-d", "2"], "Missing option '-o': give d', such as -o 1"),
    (["strata"], "Missing option '-d': give d, such as -d 2"),
    (["verify", "3", "2", "2", "5"], "give sizes by their options: type agattn verify -d 3 -o 2 -a 2 -t 5"),
    (["verify", "3"], "give sizes by their options: type agattn verify -d 3 -o D'"),
    (["verify", "3", "x"], "Got unexpected extra arguments (3 x)"),
    (["verify", "-o", "1", "3"], "give sizes by their options: type agattn verify -d 3 -o 1"),
    (["emit", "fiber", "3", "2"], "give sizes by their options: type agattn emit fiber -d 3 -o 2"),
    (["verify", "--dims", "4", "3", "4"], "numbers are joined by commas: type --dims 4,3,4"),
    (["verify", "--dims", "4,3,4"], "give the attention dimension of each layer, such as --ranks 4,3"),
    (["verify", "--ranks", "2,1"], "Missing option '--dims': give all widths, such as --dims 2,2,1"),
    (["dim"], "there is no command 'dim'; did you mean 'dimension'?"),
    (["equations"], "there is no command 'equations'; did you mean 'ideal'?"),
    (["emit", "ideal", "-d", "2", "-o", "1"], "did you mean 'implicit-ideal'?"),
    (["emit", "dim", "-d", "2", "-o", "1"], "did you mean 'implicit-ideal'?"),
    (["strata", "--dims", "2,2"], "agattn strata is about one layer; give -d and -o instead of --dims"),
    (["ideal", "-d", "2", "-o", "1", "--max-degree", "x"], "'x' is not a whole number; see agattn ideal"),
    (["ideal", "-d", "2", "-o", "1", "--max-degree", "0"], "0 is not at least 1; see agattn ideal --help"),
    (["atlas", "--max-width", "9"], "9 is not from 1 to 8; see agattn atlas --help"),
    (["run", "fiber", "-d", "2", "-o", "1", "--timeout", "x"], "'x' is not a number; see agattn run --help"),
    (["report", "-d", "2", "-o", "1"], "'--out': give a folder, such as --out report; see agattn"),
    (["rank", "nofile"], "nofile: there is no such file"),
    (["classify", "nofile"], "nofile: there is no such file"),
    (["equivalent", "nofile", "x"], "nofile: there is no such file"),
    (["report", "--study", "nofile", "--out", "r"], "cannot read nofile: No such file"),
    (["emit", "xyz", "-d", "2", "-o", "1"], "no task 'xyz'; there are implicit-ideal, hilbert-function"),
    (["emit", "-d", "2", "-o", "1"], "'TASK': agattn emit --list names the tasks, such as implicit-ideal"),
    (["verify", "-d", "0", "-o", "1"], "d is 0; it must be a whole number of at least 1"),
    (["verify", "-d", "-3", "-o", "1"], "d is -3"),
    (["verify", "-d", "2.5", "-o", "1"], "d is '2.5'"),
    (["verify", "-d", "two", "-o", "1"], "d is 'two'"),
    (["verify", "-d", "", "-o", "1"], "d is ''"),
    (["verify", "-d", "2", "-o", "0"], "-o is 0"),
    (["verify", "-d", "2", "-o", "1", "-a", "0"], "a is 0"),
    (["verify", "-d", "2", "-o", "1", "-t", "0"], "t is 0"),
    (["verify", "-d", "2", "-o", "1", "-a", "nan"], "a is 'nan'"),
    (["verify", "-d", "1000000", "-o", "1"], "500000500000000000 coordinates; the limit is 1000. Use"),
    (["verify", "-d", "9" * 30, "-o", "1"], "it must be a whole number of at most 1000000000"),
    (["emit", "implicit-ideal", "-d", "5", "-o", "5"], "375 coordinates; the limit is 60. Use --force"),
    (["verify", "-d", "2", "-o", "1", "--claim", "theorem-3.5"], "did you mean 'lemma-3.5'"),
    (["verify", "-d", "2", "-o", "1", "--claim", "agatn.degree"], "did you mean 'agattn.degree'"),
    (["verify", "-d", "2", "-o", "1", "--engine", "magma"], "there is no engine 'magma'"),
    (["verify", "-d", "2", "-o", "1", "--field", "GF9"], "the field is 'GF9'"),
    (["verify", "-d", "2", "-o", "1", "--timeout", "0"], "--timeout"),
    (["verify", "-d", "2", "-o", "1", "--timeout", "nan"], "the timeout is nan s"),
    (["verify", "-d", "2", "-o", "1", "--timeout", "inf"], "the timeout is inf s"),
    (["verify", "-d", "2", "-o", "1", "--memory", "1"], "--memory"),
    (["verify", "-d", "2", "-o", "1", "--memory", "9" * 30], "the memory is"),
    (["verify", "-d", "2", "-o", "1", "--seed", "-1"], "--seed"),
    (["verify", "-d", "2", "-o", "1", "--nonsense"], "verify has no option --nonsense; see agattn verify"),
    (["run", "fibre", "-d", "2", "-o", "1"], "there is no task 'fibre'; did you mean 'fiber'?"),
    (["emit", "implicitideal", "-d", "2", "-o", "1"], "did you mean 'implicit-ideal'?"),
    (["run", "fiber", "-d", "2", "-o", "1", "--engine", "macauly2"], "did you mean 'macaulay2'?"),
    (["run", "tangent-cone", "-d", "2", "-o", "1", "-t", "1"], "tangent-cone needs t ≥ 2"),
    (["emit", "fiber", "-d", "2", "-o", "1", "--field", "91"], "which is no field"),
    (["emit", "fiber", "-d", "2", "-o", "1", "--field", "0"], "the field is '0'"),
    (["emit", "fiber", "-d", "2", "-o", "1", "--field", "9" * 5000], "the field"),
    (["emit", "fiber", "-d", "2", "-o", "1", "--point", "/no/such/file"], "cannot read /no/such/file"),
    (["emit", "implicit-ideal", "-d", "2", "-o", "1", "--point", "x"], "of a layer takes no --point"),
    (["emit", "hilbert-function", "-d", "2", "-o", "1", "--max-degree", "-1"], "--max-degree"),
    (["schema", "verfy"], "there is no schema 'verfy'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=lambda x: " ".join(x)[:60] if isinstance(x, list) else ""
)
def test_bad_input_is_one_line_and_status_2(arguments, message):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("agattn: ") and err.count("\n") == 1 and message in err and "Traceback" not in err


def test_emit_lists_the_tasks():
    from agattn.systems.catalogue import TASKS

    code, out, _ = call("emit", "--list")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == list(TASKS)


def test_a_reader_that_goes_away_is_no_error():
    ended = subprocess.run(
        f'"{sys.executable}" -m agattn emit strata-tangents -d 3 -o 3 2>errors.$$ | head -n 1; '
        "cat errors.$$; rm errors.$$",
        shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.stdout.startswith("-- ") and ended.stdout.count("\n") == 1 and ended.stderr == ""


@pytest.mark.parametrize("words", [[], ["help"], ["help", "verify"]])
def test_help_is_no_error(words, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["agattn", *words])
    with pytest.raises(SystemExit) as end:
        main()
    out = capsys.readouterr().out
    assert end.value.code == 0 and out.startswith("Usage: agattn") and ("--claim" in out) == (len(words) == 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("theorem-3.4", ["theorem-3.4.closed", "theorem-3.4.boundary", "theorem-3.4.singular"]),
        ("Theorem 3.4.Closed", ["theorem-3.4.closed"]),
        ("A.4", ["corollary-A.4"]),
    ],
)
def test_claims_can_be_named_in_part(text, expected):
    found = document("verify", "-d", "2", "-o", "1", "--engine", "native", "--claim", text)
    assert [claim["id"] for claim in found["claims"]] == expected


def test_why_a_claim_is_inapplicable_is_said():
    out = call("verify", "-d", "2", "-o", "1", "-a", "1", "--engine", "native", "--claim", "3.4").out
    told = "theorem-3.4.singular do not apply: they assume a > 1 or d' > 1."
    assert told in out


def test_all_claims_are_listed():
    from agattn.claims import LAYER_CLAIMS, MODEL_CLAIMS, NETWORK_CLAIMS

    lines = call("verify", "--list").out.splitlines()
    assert [line.strip() for line in lines if line[:3].isspace() is False and line[:2] == "  "] == [
        *LAYER_CLAIMS,
        *NETWORK_CLAIMS,
        *MODEL_CLAIMS,
    ]


def test_the_dimension_of_a_layer():
    found = document("dimension", "-d", "3", "-o", "2", "-a", "2")
    assert (found["dimension"], found["evidence"]) == (13, "proved")


def test_a_tensor_may_be_a_plain_list(tmp_path):
    (tmp_path / "y.json").write_text("[5, 22, 21, 10, 34, 28]", encoding="utf-8")
    assert document("identify", tmp_path / "y.json", "-d", "2", "-o", "1")["v"] == [["5", "7"]]
