"""What a mistake on the command line is answered with: the likely thing, in one line."""

import pytest
from command_line import ROOT, call

LIKELY = [
    ("list", "there is no command 'list'; agattn --help lists the commands"),
    ("certify 2 1", "there is no command 'certify'; did you mean 'certificate'?"),
    ("hilbert-function 2 1", "agattn ideal finds it"),
    ("3 2 2", "there is no command '3'; sizes follow a command, as in agattn verify 3 2 2"),
    ("-d 3 -o 2", "-d follows a command, as in agattn verify -d 3 -o 2"),
    ("verify --model x.toml", "the model is 'x.toml', and there is no such file; give FILE.toml"),
    ("dimension examples/block.toml", "type agattn dimension --model examples/block.toml"),
    ("symmetries examples/maps.py:cubic", "type agattn symmetries --model examples/maps.py:cubic"),
    ("dimension --model examples/maps.py:gated", "gated is a function of W, U, V, X; name an architecture"),
    ("verify --model examples/blok.toml", "there is no such file; did you mean 'examples/block.toml'?"),
    (
        "dimension --model examples",
        "the model is 'examples', a folder; give FILE.toml, or FILE.py:name; that",
    ),
    ("dimension --model nowhere/x.py:net", "there is no folder nowhere"),
    ("verify 2 1 --claim thm-3.4", "there is no claim 'thm-3.4'; did you mean 'theorem-3.4.closed'?"),
    ("verify 2 1 --claim cor-A.4", "there is no claim 'cor-A.4'; did you mean 'corollary-A.4'?"),
    ("verify 2 1 --claim singular", "there is no claim 'singular'; did you mean 'theorem-3.4.singular'?"),
    ("verify 2 1 --claim theorem-34", "did you mean 'theorem-3.4.closed'?"),
    ("emit nothing 2 1", "there is no task 'nothing'; there are implicit-ideal, hilbert-function"),
    ("run nothing -d 2 -o 1", "there is no task 'nothing'; there are implicit-ideal, hilbert-function"),
    ("run ideal.py", "ideal.py is no task and no script; a script ends in .m2, .sing or .sh"),
    ("schema nothing", "there is no schema 'nothing'; there are atlas, audit"),
    ("strata 2 1 --degree 3", "agattn strata has no option --degree; agattn ideal has --max-degree"),
    ("rank x --engine m2", "it is an option of agattn verify, agattn ideal, agattn critical-points"),
    ("symmetries 2 1 --softmax", "no option --softmax; type --normalization softmax"),
    ("rank x --softmax", "no option --softmax; it is an option of agattn rlct. See agattn rank --help"),
    ("verify 2 1 --gpu", "no option --gpu; everything is computed on the processor"),
    ("dimension 2 1 -O x.json", "no option -O; --json writes what it finds"),
    ("schema verify -O x.json", "no option -O; it is an option of"),
    ("verify 2 1 --claims 3.4", "agattn verify has no option --claims; did you mean --claim?"),
    ("verify 2 1 -O x.json", "--report, --certificate and --json write what it finds"),
    ("report 2 1 --report out", "agattn report has no option --report; --out and --json write what it finds"),
    ("dimension --dims 4x3x4 --ranks 2,2", "numbers are joined by commas: type --dims 4,3,4"),
    ("verify 3x2x2", "numbers are separate words: type agattn verify 3 2 2"),
    ("verify (3,2)", "numbers are separate words: type agattn verify 3 2"),
    ("verify -d=3 -o 2", "-d is '=3'; leave out the sign: type -d 3"),
    ("rlct 3 2 2", "give sizes by their options: type agattn rlct -d 3 -o 2 -a 2"),
    ("audit 3 2", "give sizes by their options: type agattn audit --max-d 3 --max-out 2"),
    ("verify -d -o 1", "-d is '-o'; it must be a number"),
    ("verify -d 2 -o x", "-o is 'x'; it must be a whole number of at least 1"),
    ("figure 1 -o x", "-o is 'x'; it must be a whole number of at least 1"),
    ("verify --dims 3,3 --ranks 2 --value-rank 0", "--value-rank is 0; it must be"),
    ("audit --max-d 0", "--max-d is 0; it must be a whole number"),
    ("verify 2 1 --engine Singulr", "there is no engine 'Singulr'; did you mean 'singular'?"),
    ("figure 1 2", "type agattn figure 1 -d 2 -o D'"),
    ("dimension 3 2 --model m.toml", "--model describes everything by itself; leave out 3 2"),
    ("figure 4", "there is no figure '4'; there are '1', '2', '3', 'critical', 'deep'"),
    ("rank", "Missing argument 'FILE'; for example agattn rank"),
    ("critical-points 2 1 --metric euclid", "--metric is 'euclid'; it must be one of 'generic', 'gaussian'"),
    ("study examples/train.toml", "it is read by: agattn train examples/train.toml"),
    ("train examples/grid.toml", "it is read by: agattn study examples/grid.toml"),
]


@pytest.mark.parametrize(("line", "message"), LIKELY)
def test_the_likely_thing_is_suggested(line, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    status, out, err = call(*line.split())
    assert (status, out) == (2, "") and err.count("\n") == 1 and message in err, err


@pytest.mark.parametrize("line", ["doctor 3", "verify 3 x", "check a b"])
def test_words_that_are_no_sizes_are_not_taken_for_some(line):
    status, _, err = call(*line.split())
    assert status == 2 and "Got unexpected extra argument" in err
