"""What verify prints fits one screen: 24 lines of 80 columns."""

from __future__ import annotations

import pytest
from command_line import call


@pytest.mark.parametrize("words", ["3 2 2", "2 1", "4 3 2", "6 2 3", "--dims 4,3,4 --ranks 2,2 -t 3"])
def test_verify_prints_one_screen(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call(f"verify {words} --engine native").out.splitlines()
    assert 10 < len(lines) <= 24 and max(map(len, lines)) <= 80
    assert lines[-1].startswith(f"agattn verify {words} --engine native")
