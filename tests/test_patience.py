"""What is told of a computation that takes long, on a terminal and elsewhere."""

import sys
import time

import agattn as ag
from agattn import patience
from agattn.limits import log, takes
from agattn.verification import critical_points as room


def test_a_long_call_tells_what_it_does_after_two_seconds(monkeypatch, capsys):
    """Nothing before, and the last step at that moment; with a function of one's own nothing on stderr."""
    told = []

    @takes("progress")
    def slowly(layer):
        log.info("first")
        log.info("second")
        time.sleep(0.5)
        log.info("third")

    monkeypatch.setattr(room, "critical_points", slowly)
    ag.critical_points(ag.SingleLayer(3, 2, 2))
    assert patience.AFTER == 2 and capsys.readouterr() == ("", "")
    with patience.told("work", after=0.2):
        slowly(None)
    assert capsys.readouterr().err.splitlines() == ["work: second", "work: third"]
    ag.critical_points(ag.SingleLayer(3, 2, 2), progress=told.append)
    assert told == ["first", "second", "third"] and capsys.readouterr() == ("", "")


def test_a_terminal_is_told_what_takes_long_and_the_line_is_wiped_out(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with patience.told("counting", after=0.02, every=0.02) as tell:
        tell("modulo 7")
        time.sleep(0.2)
    err = capsys.readouterr().err
    assert err.count("\rcounting: modulo 7, 0 s\x1b[K") >= 2 and err.endswith("\r\x1b[K")
    with patience.told("counting", after=60):
        pass
    assert capsys.readouterr().err == ""
