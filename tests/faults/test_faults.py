"""The suite of faults in its short form; ``python -m tests.faults`` is the long one."""

import numpy as np
import pytest

from agattn.architectures import SingleLayer
from tests.faults import answers, certificates, engines, lies, parsers, studies
from tests.faults.table import text


def check(rows):
    assert not any(row.wrong for row in rows), text(rows)
    assert all(row.counts.total() for row in rows)


@pytest.mark.engine("singular")
def test_damaged_answers_never_decide_wrongly():
    check(answers.tried(300, layers=(SingleLayer(2, 1),), engines=("singular",)))


@pytest.mark.engine("singular")
def test_no_generators_are_believed_that_depend_on_each_other():
    check(lies.tried(2000, engines=("singular",), doors=(lies.dependent,)))


@pytest.mark.slow
@pytest.mark.engine("singular")
def test_lies_are_not_believed_against_what_is_known_natively():
    check(lies.tried(400, engines=("singular",), doors=(lies.answers, lies.verdicts)))


def test_engines_that_misbehave():
    assert len(engines.KINDS) >= 45
    check(engines.tried(tuple(engines.KINDS)[::6]))


def test_parsers_refuse_what_they_cannot_read():
    check(parsers.tried(1000))


#: Files that were found by this suite: they were not refused in one line.
FOUND = {
    "matrices, .mtx": b"%%%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 %b 5\n" % (b"9" * 5000),
    "weights, arrays in .npz": b"\0"
    + parsers._saved(npy=np.eye(2)).replace(b"(2, 2), }" + b" " * 9, b"(2, 4294967295), }"),
    "weights, .safetensors": parsers._safetensors(6, ["_1.a" * 10_000]),
    "matrices, arrays in .npz": b"\3" + parsers._saved(npy=np.array([0, 2**34 + 1, 0, 0])),
    "`agattn identify`": b'{"y": [1, 0, 1, 0, "1/%b", 0]}' % (b"9" * 3990),
}


def test_files_that_were_once_not_refused(tmp_path):
    readers = {subject: (file, reader) for subject, file, _, reader in parsers.parsers()}
    for subject, data in FOUND.items():
        file, reader = readers[subject]
        assert parsers.judged(tmp_path / file, reader, data).startswith("refused: ")


def test_nothing_false_is_displayed_as_valid():
    check(certificates.tried(40, layers=((2, 1, 2), (2, 2, 1))))


@pytest.mark.slow
def test_a_killed_study_goes_on():
    check(studies.tried(2, ways=(("native", 1), ("native", 2))))
