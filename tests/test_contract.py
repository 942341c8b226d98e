"""What programs rely on stays what ``contract.txt`` says, or the changelog tells what became of it."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import call
from contract import CHANGELOG, FILE, HEAD, Change, Kept, complaints, contract, read, written

from agattn.cli.main import cli
from agattn.names import STATUSES

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def kept():
    return read(FILE.read_text(encoding="utf-8"))


def test_the_changelog_tells_what_became_of_the_contract(kept):
    found = [*complaints(kept, contract(), CHANGELOG.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


def test_the_file_is_read_as_it_was_written(kept):
    assert written(*kept) == FILE.read_text(encoding="utf-8")
    assert read(HEAD.format(version="1.0")) == Kept("1.0", {})


# A name is changed in the package, and seen.


@pytest.mark.parametrize(
    ("before", "now", "breaks"),
    [
        ('"auto" | "ball", default "auto"', '"auto" | "ball" | "padic", default "auto"', False),
        ('"auto" | "ball"', '"ball" | "padic"', True),
        ("boolean, optional", "boolean | integer, optional", False),
        ("integer", "integer | null", True),
        ("integer", "integer, optional", True),
        ("integer", "number", True),
        (None, "integer", False),
        ("integer", None, True),
    ],
)
def test_what_breaks_programs(before, now, breaks):
    assert Change("agattn/a/1", "b", before, now).breaks is breaks


# What the changelog must say.

OLD = Kept("1.0.0", {"agattn/a/1": {"b": "string"}, "agattn a": {"--b": "flag"}, "ag.a": {}})
RELEASED = "# Changelog\n\n## 1.0.0, 2026-12-01\n\n- All of it.\n"


@pytest.mark.parametrize(
    ("found", "point"),
    [
        ({"agattn a": {"--b": "flag", "--c": "flag"}}, "`agattn a` has the option `--c`, which helps."),
        ({"agattn a": {}}, "`agattn a --b` is gone; it is always meant."),
        ({"agattn/a/1": {"b": "string", "c": "object", "c.d": "integer"}}, "`agattn/a/1` has `c`."),
        ({"ag.a": {"c": "position 1"}}, "`ag.a(c)` takes more."),
        ({"ag.b": {"c": "position 1"}}, "The verb `ag.b`."),
    ],
)  # fmt: skip
def test_the_changelog_names_every_change_since_a_release(found, point):
    other = "- Something else, such as `--cc`, in `agattn b`.\n"
    for body, told in (("", 1), (other, 1), (f"- {point}\n", 0)):
        text = f"## 1.1.0, not yet released\n\n{body}\n{RELEASED}"
        assert len([*complaints(OLD, OLD.sections | found, text)]) == told
    [line] = complaints(OLD, OLD.sections | found, RELEASED)
    assert "1.0.0 is released: begin docs/reference/changelog.md with a section" in line
    assert not [*complaints(OLD, OLD.sections, RELEASED)]


def test_a_document_loses_nothing_under_the_same_number():
    told = "## 1.1.0, not yet released\n\n- `agattn/a/2` in place of `agattn/a/1`, which had `b`.\n"
    [asked] = complaints(OLD, OLD.sections | {"agattn/a/1": {}}, told)
    assert asked.endswith("raise the number of the schema, by `number=...` in the class line of the result")
    gone = {name: OLD.sections[name] for name in ("agattn a", "ag.a")}
    assert not [*complaints(OLD, {**gone, "agattn/a/2": {"c": "string"}}, told)]


# Exit statuses are said in more than one place.


def test_every_exit_status_is_on_the_page_for_programs_and_in_the_help():
    page = (ROOT / "docs" / "guides" / "program.md").read_text(encoding="utf-8")
    assert [int(status) for status in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == list(STATUSES)
    text = " ".join(cli.help.split())
    assert all(f"{status} {meaning}" in text for status, meaning in STATUSES.items())


# Old spellings.


def former():
    """Each line of version 1.0 in the changelog that a line of version 2.0 replaces, with that line."""
    table = CHANGELOG.read_text(encoding="utf-8").partition("| 1.0 | 2.0 |")[2].partition("\n\n")[0]
    rows = [
        re.fullmatch(r"\| `(agattn [^`]+)`.* \| `(agattn [^`]+)`.* \|", line) for line in table.splitlines()
    ]
    return [row.groups() for row in rows if row]


@pytest.mark.parametrize(("old", "new"), former())
def test_an_old_spelling_says_the_new_one(old, new):
    ended = call("", *shlex.split(old)[1:])
    assert ended.status == 2 and new in " ".join(ended.err.split())
