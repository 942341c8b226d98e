"""Certificates that were changed or made up: nothing false may be displayed as valid."""

import copy
import json
import random
from functools import cache
from pathlib import Path

import pytest

from agattn.architectures import SingleLayer
from agattn.checker import Flaw, UnreadableError, check, load
from agattn.errors import AgattnError
from agattn.verification.certificate import certify, dump
from tests.faults.child import outcomes
from tests.faults.table import Row

KEPT = Path(__file__).parents[2] / "docs" / "certificates"
LAYERS = ((2, 1, 2), (2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 1, 2), (3, 1, 3))


@cache
def genuine(d, o, a):
    """The certificate of a layer, as a document."""
    return json.loads(dump(certify(SingleLayer(d, o, a))))


@cache
def true(d, o, a):
    """What is true of a layer: verdict, strata at which a claim fails, and degree, by claim."""
    return {
        claim["id"]: (claim["verdict"], claim["fails_at"], claim.get("degree"))
        for claim in genuine(d, o, a)["claims"]
        if "verdict" in claim
    }


def is_valid(document):
    """Whether a document can be read and is valid."""
    try:
        return check(document)["valid"]
    except UnreadableError:
        return False


def why_not(function, *arguments):
    """The reason for which something cannot be read."""
    with pytest.raises(UnreadableError) as raised:
        function(*arguments)
    return str(raised.value)


def flaw_of(function, *arguments):
    """What is wrong, in words, or nothing."""
    try:
        function(*arguments)
    except Flaw as flaw:
        return str(flaw)
    return ""


def places(value, path=()):
    """The paths of all values in a document."""
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def numbers(document):
    """The paths of all integers in a document."""
    return [path for path in places(document) if isinstance(at(document, path), int)]


def put(document, path, value):
    """Put a value at a path, or drop what is there."""
    *above, last = path
    for key in above:
        document = document[key]
    if value is ...:
        del document[last]
    else:
        document[last] = value


def moved(document, place, step):
    """A copy in which the integer at a place is another."""
    document = copy.deepcopy(document)
    put(document, place, at(document, place) + step)
    return document


def refused(document, moves, is_valid, is_true):
    """How many copies with one integer moved are refused; those that are not must state what is true."""
    number = 0
    for place, step in moves:
        damaged = moved(document, place, step)
        if is_valid(damaged):
            assert is_true(damaged), place
        else:
            number += 1
    return number


def at(document, path):
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def changed(chosen, document):
    """One to three values changed, dropped, repeated, or put elsewhere."""
    document = copy.deepcopy(document)
    for _ in range(chosen.choice((1, 1, 2, 3))):
        known = [path for path in places(document) if path]
        path, other = chosen.choice(known), chosen.choice(known)
        value = at(document, path)
        if isinstance(value, list) and value and chosen.random() < 0.5:
            value.insert(chosen.randrange(len(value)), copy.deepcopy(chosen.choice(value)))
            continue
        number = value if type(value) is int else 0
        elsewhere = copy.deepcopy(at(document, other))
        values = [number + 1, number - 1, -number, 0, 10**9, ..., elsewhere, [], "x", None]
        put(document, path, chosen.choice(values))
    return document


def forged(chosen, document, others):
    """A certificate that says something else than it proves."""
    document = copy.deepcopy(document)
    other = chosen.choice(others)
    claim = chosen.choice(document["claims"])
    how = chosen.randrange(6)
    if how == 0:
        claim["verdict"] = {"refuted": "confirmed"}.get(claim.get("verdict"), "refuted")
    elif how == 1:
        claim["fails_at"] = chosen.choice([[], [[1, 1, 1]], [[2, 1, 2]], [[1, 1, 2], [1, 2, 2]]])
    elif how == 2:
        document |= {key: other[key] for key in ("d", "d_out", "a")}
    elif how == 3:
        document["strata"] = copy.deepcopy(other["strata"])
    elif how == 4:
        document["claims"] = copy.deepcopy(other["claims"])
    else:
        size = chosen.choice((4, 20, 1000, 10**6, 10**9))
        document |= {"d": size, "d_out": chosen.choice((1, size)), "a": chosen.choice((1, size))}
        d, o, a = document["d"], document["d_out"], document["a"]
        document["dimension"] = o * d + a * (2 * d - a) - 1
    return document


def judge(case):
    """Whether all that a certificate displays as valid is true."""
    try:
        document = load(case)
        result = check(document)
    except UnreadableError:
        return "refused"
    shown = [claim for claim in result["claims"] if claim["valid"]]
    if not shown and not result["valid"]:
        return "refused"
    try:
        truth = true(document["d"], document["d_out"], document["a"])
    except AgattnError as error:
        return f"nothing is known of this layer: {error}"
    said = {claim["id"]: claim for claim in document["claims"]}
    for claim in shown:
        stated = said[claim["id"]]
        found = stated["verdict"], stated["fails_at"], stated.get("degree")
        if found != truth.get(claim["id"]) or not claim["reason"].startswith(found[0]):
            return f"false: {claim}"
    return "true"


def tried(cases, seed=0, layers=LAYERS):
    """Rows about so many mutated, and as many forged certificates."""
    chosen = random.Random(seed)
    documents = [genuine(*layer) for layer in layers]
    kept = [json.loads(path.read_text()) for path in sorted(KEPT.glob("*.json"))]
    documents += [document for document in kept if "strata" in document]  # of the layer
    for document in documents:
        true(document["d"], document["d_out"], document["a"])  # known before processes are started
    small = documents[: len(layers)]
    rows = []
    for subject, make in (
        ("certificates, mutated", lambda: changed(chosen, chosen.choice(small * 8 + documents))),
        ("certificates, forged", lambda: forged(chosen, chosen.choice(documents), documents)),
    ):
        row = Row(subject)
        texts = [json.dumps(make()) for _ in range(cases)]
        for text, outcome in zip(texts, outcomes(texts, judge), strict=True):
            row.add(
                {"true": "right", "refused": "detected"}.get(outcome, "wrong"), f"{outcome}: {text[:300]}"
            )
        rows.append(row)
    return rows
