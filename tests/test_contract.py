"""What programs rely on stays what ``contract.txt`` says, or the changelog tells what became of it."""

import re
from pathlib import Path

import click
import pytest
from contract import (
    CHANGELOG,
    FILE,
    HEAD,
    PAGE,
    Change,
    Kept,
    command,
    complaints,
    contract,
    documents,
    python_name,
    read,
    sections_of,
    written,
)

import agattn as ag
from agattn.algebra import rank as room
from agattn.cli.main import cli
from agattn.names import COMMANDS, STATUSES
from agattn.sheet import result

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def kept():
    return read(FILE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def today(kept):
    """The file with the package as it is, which may have more than the file since a release."""
    return Kept(kept.version, contract())


def test_the_changelog_tells_what_became_of_the_contract(kept):
    found = [*complaints(kept, contract(), CHANGELOG.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


def test_the_file_is_read_as_it_was_written(kept):
    assert written(*kept) == FILE.read_text(encoding="utf-8")
    assert read(HEAD.format(version="1.0")) == Kept("1.0", {})


def test_the_newest_section_of_the_changelog_is_about_this_version_or_the_next():
    (newest, released, _), (before, *_), *_ = sections_of(CHANGELOG.read_text(encoding="utf-8"))
    assert ag.__version__ == newest or (not released and ag.__version__ == before)


# A name is changed in the package, and seen.


def broken(kept, found):
    """What is said of a package that has other sections than the file."""
    return [*complaints(kept, {**kept.sections, **found}, "## 99.0.0, not yet released\n")]


@pytest.fixture
def change_key(monkeypatch):
    """Gives a key of a result another name or type, as its class would."""
    real = result.keys

    def change(title, key, **other):
        def keys(cls):
            return tuple(
                one._replace(**other) if (cls.__name__, one.name) == (title, key) else one
                for one in real(cls)
            )

        monkeypatch.setattr(result, "keys", keys)
        result.record.cache_clear()

    yield change
    result.record.cache_clear()


@pytest.mark.parametrize(
    ("title", "key", "other", "said"),
    [
        ("RankResult", "evidence", {"name": "how_known"}, "agattn/rank/1 evidence"),
        ("Examined", "problem", {"name": "trouble"}, "agattn/doctor/1 engines[].problem"),
        ("SingleLayer", "d_out", {"name": "out"}, "architecture (SingleLayer).d_out"),
        ("Doctor", "python", {"kind": int}, "agattn/doctor/1 python"),
        ("Doctor", "python", {"kind": str | result.UnsetType}, "agattn/doctor/1 python"),
        ("Doctor", "python", {"kind": str | None}, "agattn/doctor/1 python"),
    ],
)
def test_another_name_or_type_of_a_key_is_seen(today, change_key, title, key, other, said):
    if "kind" in other:
        other = {"kind": result.Key[other["kind"], "The version of Python."]}
    change_key(title, key, **other)
    lines = [line for line in broken(today, documents()) if line.startswith(f"{said}: ")]
    assert [line.partition("; ")[2].split()[0] for line in lines] == [PAGE, "raise"]


def test_a_new_key_is_no_break(today):
    more = {"engines[].speed": "object", "engines[].speed.words": "string"}
    [line] = broken(today, {"agattn/doctor/1": today.sections["agattn/doctor/1"] | more})
    assert line.startswith("agattn/doctor/1 engines[].speed: None became 'object'; docs/")


def test_other_options_defaults_types_and_choices_are_seen(today, monkeypatch):
    options = {one.name: one for one in cli.get_command(None, "rank").params}
    monkeypatch.setattr(options["seed"], "opts", ["--random"])
    monkeypatch.setattr(options["precision"], "default", 64)
    monkeypatch.setattr(options["method"], "type", click.Choice(["auto", "padic"]))
    lines = broken(today, {"agattn rank": command("rank")})
    said = [line.partition(":")[0] for line in lines]
    assert sorted(said) == [f"agattn rank --{name}" for name in ("method", "precision", "random", "seed")]


def test_a_parameter_of_a_verb_and_what_is_gone_are_seen(today, monkeypatch):
    def rank(matrix, method="auto", *, bits=128, radius=None, seed=1):
        """The verb with another name for ``precision``, and another default of ``seed``."""

    monkeypatch.setattr(room, "rank_of", rank)
    lines = broken(today, {"ag.rank": python_name("rank")})
    assert [line.partition(":")[0] for line in lines] == [
        f"ag.rank {x}" for x in ("precision", "seed", "bits")
    ]
    claims = {name: said for name, said in today.sections["claims"].items() if name != "theorem-3.7"}
    less = {name: said for name, said in today.sections.items() if name not in ("ag.Linear", "agattn rank")}
    lines = [*complaints(today, less | {"claims": claims}, "## 99.0.0, not yet released\n")]
    gone = ["ag.Linear", "agattn rank", "claims theorem-3.7"]
    assert sorted(line.partition(":")[0] for line in lines) == gone


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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_says_what_its_status_1_says(name):
    said = re.search(r"Exit status: .*?; 1 (.*?);", " ".join(cli.get_command(None, name).help.split()))
    assert said is None or said[1] == COMMANDS[name].refused
    assert (said is None) == (COMMANDS[name].refused in ("", STATUSES[1]))
