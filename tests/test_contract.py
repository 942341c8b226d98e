"""What programs rely on stays what ``contract.txt`` says, or the changelog tells what became of it."""

import re
from pathlib import Path

import click
import pytest
from contract import (
    CHANGELOG,
    FILE,
    HEAD,
    Kept,
    command,
    complaints,
    contract,
    documents,
    may_be_written,
    python_name,
    read,
    sections_of,
    written,
)

import agattn as ag
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


def test_the_package_is_what_its_contract_says(kept):
    found = complaints(kept, contract(), CHANGELOG.read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


def test_the_file_is_read_as_it_was_written(kept):
    assert written(*kept) == FILE.read_text(encoding="utf-8")
    assert read(HEAD.format(version="1.0")) == Kept("1.0", {})


def test_the_newest_section_of_the_changelog_is_about_this_version_or_the_next():
    newest, *others = sections_of(CHANGELOG.read_text(encoding="utf-8"))
    assert ag.__version__ in [newest.version, *(one.version for one in others[:1] if not newest.released)]


# A name is changed in the package, and seen.


def broken(kept, found):
    """What is said of a package that has other sections than the file."""
    return complaints(kept, {**kept.sections, **found}, "## 0.1.0, not yet released\n")


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


def test_a_renamed_key_of_a_document_is_seen(today, change_key):
    change_key("RankResult", "evidence", name="how_known")
    _, change, number, how = broken(today, documents())
    assert change == "renamed: agattn/rank/1 evidence (now how_known)"
    assert number.startswith("agattn/rank/1 evidence was renamed: raise the number of the schema")
    assert how.startswith("`python -m tests.contract` writes the contract of 0.1.0") and "changelog.md" in how


def test_a_key_below_others_and_a_key_of_architectures_are_seen(today, change_key):
    change_key("Examined", "problem", name="trouble")
    assert "renamed: agattn/doctor/1 engines[].problem (now engines[].trouble)" in broken(today, documents())
    change_key("SingleLayer", "d_out", name="out")
    found = broken(today, documents())
    assert "renamed: architecture (SingleLayer).d_out (now (SingleLayer).out)" in found
    assert any(line.startswith("architecture (SingleLayer).d_out was renamed: raise") for line in found)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (int, "changed: agattn/doctor/1 python (string became integer)"),
        (str | result.UnsetType, "changed: agattn/doctor/1 python (string became string, optional)"),
        (str | None, "changed: agattn/doctor/1 python (string became string | null)"),
    ],
)
def test_another_type_of_a_key_is_seen(today, change_key, kind, said):
    change_key("Doctor", "python", kind=result.Key[kind, "The version of Python."])
    assert said in broken(today, documents())


def test_a_new_key_is_no_break(today):
    doctor = today.sections["agattn/doctor/1"] | {
        "engines[].speed": "object",
        "engines[].speed.words": "string",
    }
    _, change, how = broken(today, {"agattn/doctor/1": doctor})
    assert change == "added: agattn/doctor/1 engines[].speed (object)" and "writes the contract" in how


@pytest.fixture
def options_of_rank():
    return {one.name: one for one in cli.get_command(None, "rank").params}


def test_a_renamed_option_is_seen(today, options_of_rank, monkeypatch):
    monkeypatch.setattr(options_of_rank["precision"], "opts", ["--bits"])
    _, change, _ = broken(today, {"agattn rank": command("rank")})
    assert change == "renamed: agattn rank --precision (now --bits)"


def test_other_defaults_types_and_choices_of_options_are_seen(today, options_of_rank, monkeypatch):
    method, precision = options_of_rank["method"], options_of_rank["precision"]
    monkeypatch.setattr(precision, "default", 64)
    monkeypatch.setattr(precision, "multiple", True)
    choices = method.type.choices
    monkeypatch.setattr(method, "type", click.Choice([*choices, "padic"]))
    was = "integer of at least 8 and at most 1000000"
    assert broken(today, {"agattn rank": command("rank")})[1:3] == [
        f"changed: agattn rank --precision ({was}, default 128 became {was}, repeats, default 64)",
        'added: agattn rank --method ("padic")',
    ]
    monkeypatch.setattr(method, "type", click.Choice(choices[1:]))
    said = broken(today, {"agattn rank": command("rank")})[1]
    assert said.startswith('changed: agattn rank --method ("auto" | "rational"')


def test_a_renamed_parameter_of_a_verb_is_seen(today, monkeypatch):
    from agattn.algebra import rank as room

    def rank(matrix, method="auto", *, bits=128, radius=None, seed=1):
        """The verb with another name for ``precision``, and another default of ``seed``."""

    monkeypatch.setattr(room, "rank_of", rank)
    _, renamed, changed, how = broken(today, {"ag.rank": python_name("rank")})
    assert renamed == "renamed: ag.rank precision (now bits)"
    assert changed == "changed: ag.rank seed (by name, default 0 became by name, default 1)"
    assert how.startswith("`python -m tests.contract` writes")


def test_a_verb_command_class_or_claim_that_is_gone_is_seen(today):
    less = {
        name: {entry: said for entry, said in entries.items() if entry != "theorem-3.7"}
        for name, entries in today.sections.items()
        if name not in ("ag.rank", "agattn rank", "ag.Linear")
    }
    _, *changes, _ = complaints(today, less, "## 0.1.0, not yet released\n")
    assert changes == [
        "removed: agattn rank",
        "removed: ag.Linear",
        "removed: ag.rank",
        "removed: claims theorem-3.7 (networks)",
    ]


# What the changelog must say.

OLD = Kept("1.0.0", {"agattn/a/1": {"b": "string"}, "agattn a": {"--b": "flag"}, "ag.a": {}})
RELEASED = "# Changelog\n\n## 1.0.0, 2026-12-01\n\n- All of it.\n"


def said_of(found, changelog):
    return [line for line in complaints(OLD, OLD.sections | found, changelog) if "changelog" in line]


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
    for text in ("", "- Something else, such as `--cc`, in `agattn b`.\n"):
        [asked] = said_of(found, f"## 1.1.0, not yet released\n\n{text}\n{RELEASED}")
        assert "under 1.1.0" in asked
    assert not said_of(found, f"## 1.1.0, not yet released\n\n- {point}\n\n{RELEASED}")
    [asked] = said_of(found, f"## 1.1.0, not yet released\n\n{RELEASED}- {point}\n")
    assert "under 1.1.0" in asked


def test_after_a_release_a_change_needs_a_new_section():
    assert complaints(OLD, OLD.sections, RELEASED) == []
    assert any(
        "begin docs/reference/changelog.md with a section" in line for line in said_of({"ag.b": {}}, RELEASED)
    )


def test_a_document_loses_nothing_under_the_same_number():
    told = (
        "## 1.1.0, not yet released\n\n- `agattn/a/2` in place of `agattn/a/1`, which had `b`.\n\n" + RELEASED
    )
    [_, _, asked] = complaints(OLD, OLD.sections | {"agattn/a/1": {}}, told)
    assert asked.startswith("agattn/a/1 b was removed: raise the number of the schema")
    gone = {name: OLD.sections[name] for name in ("agattn a", "ag.a")}
    assert any("raise the number" in line for line in complaints(OLD, gone, told))
    assert complaints(OLD, {**gone, "agattn/a/2": {"c": "string"}}, told) == []


def test_the_file_of_a_released_version_stays_until_the_next():
    point = "- The verb `ag.b`.\n\n"
    more = {**OLD.sections, "ag.b": {}}
    for changelog, may in [
        (RELEASED, False),
        (f"## 1.1.0, not yet released\n\n{point}{RELEASED}", False),
        (f"## 1.1.0, 2027-01-01\n\n{RELEASED}", False),
        (f"## 1.1.0, 2027-01-01\n\n{point}{RELEASED}", True),
        (RELEASED.replace("2026-12-01", "not yet released"), True),
    ]:
        assert may_be_written(OLD, more, changelog) is may
    assert "contract of 1.1.0" in said_of(OLD.sections, f"## 1.1.0, 2027-01-01\n\n{RELEASED}")[0]
    assert complaints(Kept("1.1.0", more), more, f"## 1.1.0, 2027-01-01\n\n{point}{RELEASED}") == []


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
