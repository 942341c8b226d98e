"""Results whose documents are told by a tag, have one of several keys, or may leave out defaults."""

from fractions import Fraction
from typing import Annotated

import jsonschema
import pytest

from agattn.documents import RESULTS, results
from agattn.errors import InputError
from agattn.sheet.data import Note, Sheet, Table
from agattn.sheet.result import UNSET, Key, Meta, Positive, Result, UnsetType, check, check_one_of, schema
from agattn.sheet.terminal import text


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


def test_every_document_names_its_schema():
    for name in RESULTS:
        assert {one.schema_name.split("/")[1] for one in results(name)} == {name}


def test_a_paragraph_that_is_not_apart_stands_directly_below():
    table = Table("", ("n",), ((1,),), ruled=False)
    assert text(Sheet("title", (Note("one", apart=False), Note("two")))) == "title\none\n\ntwo"
    assert text(Sheet("", (Note("one"), table))) == "one\nn\n1"
