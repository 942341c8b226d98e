"""Results whose documents are told by a tag, have one of several keys, or may leave out defaults."""

import copy
import json
import pickle
from fractions import Fraction
from typing import Annotated, Any

import jsonschema
import numpy as np
import pytest

from agattn.documents import RESULTS, results
from agattn.errors import InputError
from agattn.evidence import Evidence
from agattn.sheet.data import Word
from agattn.sheet.result import (
    ENTRIES,
    UNSET,
    Key,
    Meta,
    Positive,
    Result,
    UnsetType,
    check,
    check_one_of,
    document,
    key,
    schema,
)


class Circle(Result, name="shape", tag=("kind", "circle")):
    """A circle."""

    radius: Key[Positive, "Its radius."]


class Square(Result, name="shape", tag=("kind", "square")):
    """A square."""

    side: Key[Fraction, "Its side."]


class Answer(Result, one_of=("found", "reason")):
    """What was found, or why nothing was."""

    found: Key[int | UnsetType, "What was found."] = UNSET
    reason: Key[str | UnsetType, "Why nothing was."] = UNSET


class Step(Result, has_defaults=True):
    """A step."""

    size: Key[Positive, "How large."]
    times: Key[Positive, "How often."] = 1


class Ball(Result, name="ball", number=2):
    """A ball, whose documents once had the key ``size``."""

    radius: Key[Positive, "Its radius."]


def test_documents_of_a_higher_number_are_told_from_those_before():
    assert Ball(1).as_json() == {"schema": "agattn/ball/2", "radius": 1}
    assert schema(Ball)["properties"]["schema"]["enum"] == ["agattn/ball/2"]
    with pytest.raises(InputError, match=r"agattn/ball/1"):
        check(Ball, {"schema": "agattn/ball/1", "radius": 1})


def test_a_tag_tells_documents_apart():
    assert Circle(2).as_json() == {"schema": "agattn/shape/1", "kind": "circle", "radius": 2}
    for one in (Circle(2), Square(Fraction(1, 2))):
        check_one_of((Circle, Square), one.as_json())
    with pytest.raises(InputError, match=r"`int` >= 1 - at `\$.radius`"):
        check_one_of((Circle, Square), {"schema": "agattn/shape/1", "kind": "circle", "radius": 0})


@pytest.mark.parametrize(
    ("document", "holds"), [({"found": 1}, True), ({"reason": "no"}, True), ({}, False),
                            ({"found": 1, "reason": "no"}, False)],
)  # fmt: skip
def test_exactly_one_of_some_keys_is_there(document, holds):
    assert jsonschema.Draft202012Validator(schema(Answer)).is_valid(document) is holds
    if holds:
        check(Answer, document)
    else:
        with pytest.raises(InputError, match="exactly one of found, reason must be there"):
            check(Answer, document)


class Pair(tuple):
    """Two numbers, written as a list of two."""

    __json__ = Annotated[list[int], Meta(min_length=2, max_length=2)]


class Places(Result):
    """Some pairs."""

    pairs: Key[tuple[Pair, ...], "Where."]


def test_a_type_says_with_its_limits_how_its_values_are_written():
    pairs = schema(Places)["properties"]["pairs"]
    assert pairs["items"] == {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    check(Places, Places((Pair((1, 2)),)).as_json())
    with pytest.raises(InputError, match="length >= 2"):
        check(Places, Places((Pair((1,)),)).as_json())


def test_a_key_with_a_default_may_be_left_out():
    check(Step, {"size": 3})
    described = schema(Step)
    assert described["required"] == ["size"] and described["properties"]["times"]["default"] == 1
    assert Step(3).as_json() == {"size": 3, "times": 1}


class Turn(Result):
    """A turn, with how often it was made."""

    matrix: Key[Any, "The matrix.", ENTRIES]
    steps: Key[tuple[Step, ...], "The steps."] = ()
    evidence: Key[Evidence, "How it is known."] = Evidence.PROVED
    center: Key[Fraction | None, "What stays."] = None
    source: str = "for Python alone"

    @key
    def number(self) -> int:
        """How many steps there are."""
        return len(self.steps)


TURN = Turn(np.array([[0, Fraction(1, 2)], [1, 0]], dtype=object), (Step(3),))


def test_a_result_is_a_frozen_value():
    assert Step(3) == Step(3, 1) != Step(4) and len({Step(3), Step(3, 1)}) == 1
    with pytest.raises(AttributeError):
        TURN.center = Fraction(1)
    assert (TURN.number, TURN.replace(steps=()).number) == (1, 0)
    for one in (pickle.loads(pickle.dumps(TURN)), copy.copy(TURN)):
        assert one.number == 1 and one.as_json() == TURN.as_json()


def test_a_result_as_a_table():
    assert TURN.to_dict() == TURN.as_json()
    assert TURN.to_csv().splitlines()[0] == "key,value" and "evidence,proved" in TURN.to_csv().splitlines()
    assert "\\begin{tabular}{lp{0.35" in TURN.to_latex() and "evidence & proved" in TURN.to_latex()
    pandas = pytest.importorskip("pandas")
    table = TURN.to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table.columns) == ["key", "value"]


def test_a_result_without_a_sheet_shows_its_keys():
    (keys_, steps) = TURN.sheet().tables
    assert [row[0] for row in keys_.rows] == ["matrix", "evidence", "center", "number"]
    assert [row[1] for row in keys_.rows[1:]] == [Word("proved"), "–", "1"]
    assert (steps.caption, steps.headings, steps.rows) == ("steps", ("size", "times"), (("3", "1"),))


def test_a_result_is_read_back_from_its_document():
    found = Turn.from_json(json.loads(json.dumps(TURN.as_json())))
    assert isinstance(found, Turn) and found.as_json() == document(found) == TURN.as_json()
    assert found.matrix.tolist() == TURN.matrix.tolist() and isinstance(found.steps[0], Step)
    assert (found.evidence, found.center, found.number) == (Evidence.PROVED, None, 1)
    assert (found.source, str(found)) == ("for Python alone", "Turn: evidence proved, number 1")
    with pytest.raises(InputError, match=r"`int` >= 1 - at `\$.steps\[0\].size`"):
        Turn.from_json(TURN.as_json() | {"steps": [{"size": 0}]})


def test_every_document_names_its_schema():
    others = {"equivalent": {"same-model", "distance"}}  # of two checkpoints
    for name in RESULTS:
        assert {one.schema_name.split("/")[1] for one in results(name)} == {name, *others.get(name, ())}
