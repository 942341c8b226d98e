import contextlib
import re
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import end_mark, sealed

from agattn.algebra.polynomial import PolynomialRing
from agattn.architectures import SingleLayer
from agattn.engines.reading import read
from agattn.errors import TranscriptError
from agattn.systems.catalogue import build

LAYER = SingleLayer(1, 2)  # two coordinates, so that transcripts are short
IDEAL = build("implicit-ideal", LAYER)
MODULAR = build("implicit-ideal", LAYER, characteristic=101)
HILBERT = build("hilbert-function", LAYER)
FIBER = build("fiber", SingleLayer(2, 1))
BASE = build("base-locus", LAYER)


def write(problem, integers, polynomials):
    """A transcript as an engine prints it: a writer of its own, after the format's description."""
    lines = [f"integer {name} {value}" for name, value in integers.items()]
    for name, fs in polynomials.items():
        lines.append(f"polynomials {name} {len(fs)}")
        for f in fs:
            lines.append(f"polynomial {len(f)}")
            lines += [f"term {c} {','.join(map(str, e))}" for e, c in f.items()]
    return "\n".join([f"agattn-data 1 {problem.task} {problem.digest}", *lines, end_mark(lines), ""])


numbers = st.fractions().filter(bool)
terms = st.dictionaries(st.tuples(st.integers(0, 99), st.integers(0, 99)), numbers, max_size=4)
GENERATORS = [{(2, 0): Fraction(3, 7), (1, 1): Fraction(-12)}, {(0, 10): Fraction(1)}]
GOOD = write(IDEAL, {"dimension": 12, "degree": -30}, {"generators": GENERATORS})


@given(st.integers(), st.integers(), st.lists(terms, max_size=4))
def test_round_trip(dimension, degree, fs):
    answer = read(write(IDEAL, {"dimension": dimension, "degree": degree}, {"generators": fs}), IDEAL)
    assert answer.integers == {"dimension": dimension, "degree": degree}
    assert [f.terms for f in answer.polynomials["generators"]] == fs
    assert answer.problem is IDEAL


@given(
    st.lists(
        st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.integers(1, 100)), max_size=3
    )
)
def test_round_trip_modulo_a_prime(fs):
    answer = read(write(MODULAR, {"dimension": 1, "degree": 1}, {"generators": fs}), MODULAR)
    assert [f.terms for f in answer.polynomials["generators"]] == fs


@given(st.lists(st.integers(0, 10**6), max_size=6))
def test_results_of_items(values):
    integers = {"values": len(values), **{f"value@{n}": v for n, v in enumerate(values, 1)}}
    assert read(write(HILBERT, integers, {}), HILBERT).integers == integers


def test_results_at_points():
    integers = {f"{r.name}@{p.label}": 1 for p in FIBER.points for r in FIBER.results}
    assert read(write(FIBER, integers, {}), FIBER).at_points("length") == {"1,1,1": 1, "1,1,2": 1, "1,2,2": 1}
    for name in integers:
        with pytest.raises(TranscriptError, match="missing"):
            read(write(FIBER, {n: v for n, v in integers.items() if n != name}, {}), FIBER)


def test_components_are_polynomials_in_another_ring():
    components = {"component@1": [{(1, 0, 0): 1}], "component@2": [{(0, 1, 0): 1}, {(0, 0, 1): 1}]}
    answer = read(write(BASE, {"components": 2}, components), BASE)
    assert [f.macaulay2() for f in answer.polynomials["component@2"]] == ["v_(1,1)", "v_(2,1)"]


def test_what_surrounds_the_block_does_not_matter():
    answer = read(GOOD, IDEAL)
    around = f"warning: x\n{GOOD}bye\n", f"// ** redefining\n\n{GOOD}"
    for text in (*around, GOOD.replace("\n", "\r\n"), GOOD.rstrip("\n")):
        assert read(text, IDEAL) == answer


def test_truncation_at_every_character_is_detected():
    last = len(GOOD) - 1  # the end of the last line is not needed
    for end in range(last):
        with pytest.raises(TranscriptError):
            read(GOOD[:end], IDEAL)
    assert read(GOOD[:last], IDEAL) == read(GOOD, IDEAL)


def test_every_missing_repeated_or_swapped_line_is_detected_or_harmless():
    lines, answer = GOOD.splitlines(), read(GOOD, IDEAL)
    for n in range(len(lines)):
        for changed in (lines[:n] + lines[n + 1 :], lines[: n + 1] + lines[n:]):
            with pytest.raises(TranscriptError):
                read("\n".join(changed), IDEAL)
        if n:
            with pytest.raises(TranscriptError):
                read("\n".join([*lines[:n], "", *lines[n:]]), IDEAL)
        swapped = lines[:n] + lines[n + 1 : n + 2] + lines[n : n + 1] + lines[n + 2 :]
        with contextlib.suppress(TranscriptError):
            assert read("\n".join(swapped), IDEAL).integers == answer.integers


@given(
    st.integers(0, len(GOOD) - 2),
    st.sampled_from(["x", " ", "-", "/", ",", "", "\n", "\0", "٣", "²", ".", "+", "_", "e", *"0123456789"]),
)
def test_every_garbled_character_is_detected(position, character):
    garbled = GOOD[:position] + character + GOOD[position + 1 :]
    if garbled == GOOD:
        return
    with pytest.raises(TranscriptError) as raised:
        read(garbled, IDEAL)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


@given(
    st.integers(0, len(GOOD) - 2),
    st.sampled_from(["x", " ", "-", "/", ",", "", "\n", "\0", "٣", "²", ".", "+", "_", "e"]),
)
def test_what_an_engine_itself_garbles_changes_no_more_than_one_number(position, character):
    """With the right checksum a digit lost or a sign gained inside a value is a value; nothing else is."""
    garbled = sealed(GOOD[:position] + character + GOOD[position + 1 :])
    line = GOOD[:position].count("\n")
    word = GOOD[:position].split("\n")[-1].count(" ")
    original = GOOD.splitlines()[line]
    is_value = (original.startswith("integer") and word == 2) or (original.startswith("term") and word >= 1)
    try:
        answer = read(garbled, IDEAL)
    except TranscriptError as error:
        assert "\n" not in str(error) and len(str(error)) < 400
        return
    if answer != read(GOOD, IDEAL):
        assert is_value and character in ("-", "/", "")
        assert len(answer.polynomials["generators"]) == 2


@given(st.integers(0, len(GOOD) - 3))
def test_two_letters_that_change_places_are_detected(n):
    swapped = GOOD[:n] + GOOD[n + 1] + GOOD[n] + GOOD[n + 2 :]
    if swapped == GOOD:
        return
    with pytest.raises(TranscriptError):
        read(swapped, IDEAL)


@given(st.text(max_size=300))
@pytest.mark.slow
def test_garbage_is_refused(text):
    with pytest.raises(TranscriptError):
        read(text, IDEAL)


@given(st.lists(st.sampled_from(GOOD.splitlines()), max_size=12))
def test_shuffled_lines_are_refused_or_whole(lines):
    try:
        answer = read("\n".join(lines), IDEAL)
    except TranscriptError:
        return
    assert answer.integers == {"dimension": 12, "degree": -30}


def edited(old, new):
    assert GOOD.count(old) >= 1
    return GOOD.replace(old, new, 1)


BAD = {
    "no block": "hello\n",
    "nothing": "",
    "two blocks": GOOD + GOOD,
    "two ends": GOOD + "agattn-end 9 0\n",
    "end before begin": "agattn-end 0 0\n" + GOOD.split("agattn-end")[0],
    "another digest": edited(IDEAL.digest, build("implicit-ideal", SingleLayer(1, 1)).digest),
    "another task": edited("implicit-ideal", "hilbert-function"),
    "another version": edited("agattn-data 1", "agattn-data 2"),
    "another field": edited(IDEAL.digest, MODULAR.digest),
    "wrong number of lines": edited("agattn-end 8", "agattn-end 7"),
    "zero coefficient": edited("term 1 0,10", "term 0 0,10"),
    "zero fraction": edited("term 1 0,10", "term 0/5 0,10"),
    "zero denominator": edited("3/7", "3/0"),
    "negative denominator": edited("3/7", "3/-7"),
    "decimal": edited("-12", "-12.5"),
    "exponential": edited("-12", "12e3"),
    "infinite": edited("-12", "inf"),
    "expression": edited("-12", "2*6"),
    "grouped digits": edited("-12", "1_2"),
    "digits of another script": edited("term -12", "term ١٢"),
    "too few exponents": edited("0,10", "10"),
    "too many exponents": edited("0,10", "0,10,0"),
    "negative exponent": edited("0,10", "0,-10"),
    "giant exponent": edited("0,10", "0,1" + "0" * 30),
    "empty exponent": edited("0,10", "0,"),
    "one monomial twice": edited("1,1", "2,0"),
    "a term too many": edited("polynomial 1", "polynomial 0"),
    "a term too few": edited("polynomial 2", "polynomial 3"),
    "negative terms": edited("polynomial 2", "polynomial -2"),
    "negative polynomials": edited("generators 2", "generators -2"),
    "fewer polynomials": edited("generators 2", "generators 1"),
    "more polynomials": edited("generators 2", "generators 3"),
    "very many polynomials": edited("generators 2", "generators 999999999999999999"),
    "unknown result": edited("degree", "genus"),
    "result twice": edited("degree", "dimension"),
    "integer as polynomials": edited("integer degree", "polynomials degree"),
    "polynomials for one item": edited("generators", "generators@1"),
    "huge integer": edited("-30", "9" * 5000),
    "two spaces": edited("integer degree", "integer  degree"),
    "trailing space": edited("-30", "-30 "),
}  # fmt: skip


@pytest.mark.parametrize("seal", [str, sealed], ids=["as damaged", "as an engine might print it"])
@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_refused(text, seal):
    with pytest.raises(TranscriptError) as raised:
        read(seal(text), IDEAL)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


@pytest.mark.parametrize("last", ["8", "8 0", "8 {0}{0}", "8 -{0}", "8 {0} {0}", "8 {0}x"])
def test_a_checksum_that_is_none_of_these_lines_is_refused(last):
    checksum = GOOD.split("agattn-end 8 ")[1].strip()
    with pytest.raises(TranscriptError):
        read(GOOD.replace(f"8 {checksum}", last.format(checksum)), IDEAL)


def test_large_integers_are_read_exactly():
    assert read(sealed(edited("-30", "9" * 3999)), IDEAL).integers["degree"] == 10**3999 - 1


@pytest.mark.parametrize("coefficient", ["1/101", "5/202", "0", "101", "-202"])
def test_what_is_zero_or_no_number_modulo_p_is_refused(coefficient):
    text = write(MODULAR, {"dimension": 1, "degree": 1}, {"generators": [{(1, 0): coefficient}]})
    with pytest.raises(TranscriptError):
        read(text, MODULAR)


@pytest.mark.parametrize("count", [-1, 0, 1, 3, 10**15])
def test_wrong_numbers_of_items_are_refused_at_once(count):
    with pytest.raises(TranscriptError):
        read(write(HILBERT, {"values": count, "value@1": 1, "value@2": 2}, {}), HILBERT)
    components = {"component@1": [{(1, 0, 0): 1}], "component@2": [{(0, 1, 0): 1}]}
    with pytest.raises(TranscriptError):
        read(write(BASE, {"components": count}, components), BASE)


def test_the_ring_is_that_of_the_problem():
    f = read(GOOD, IDEAL).polynomials["generators"][0]
    assert isinstance(f.ring, PolynomialRing)
    assert [v.name for v in f.ring.variables] == ["y_1_1_1_1", "y_2_1_1_1"]


def with_lines(*lines):
    """A whole data block for an ideal whose lines before the polynomials are these."""
    return "\n".join([f"agattn-data 1 {IDEAL.task} {IDEAL.digest}", *lines, end_mark(lines), ""])


SIZES = ("integer dimension 1", "integer degree 1")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((*SIZES, SIZES[1], "polynomials generators 0"), "'degree' stands in the data block twice"),
        ((*SIZES, *["polynomials generators 0"] * 2), "'generators' stands in the data block twice"),
        ((*SIZES, "polynomials generators -1"), "-1 is not how many items can follow"),
        ((*SIZES, "polynomials generators 1", "polynomial -1"), "-1 is not how many items can follow"),
        (
            (*SIZES, "polynomials generators 1", "integer 1", "term 1 1,0"),
            "stands where a polynomial was due",
        ),
    ],
)
def test_whole_blocks_with_other_lines_than_asked_for_are_refused(lines, words):
    assert read(with_lines(*SIZES, "polynomials generators 0"), IDEAL).polynomials == {"generators": ()}
    with pytest.raises(TranscriptError, match=re.escape(words)):
        read(with_lines(*lines), IDEAL)


def test_the_longest_integers_and_the_largest_exponents():
    """4000 digits and an exponent of 9999 are read; a digit more, or an exponent one larger, is not."""
    longest, largest = 10**3999, 9999

    def answer(integer, coefficient, exponent):
        given = {"generators": [{(exponent, 0): coefficient}]}
        return read(write(IDEAL, {"dimension": integer, "degree": 1}, given), IDEAL)

    found = answer(longest, longest, largest)
    assert found.integers["dimension"] == longest
    assert [f.terms for f in found.polynomials["generators"]] == [{(largest, 0): longest}]
    for wrong in ((10 * longest, 1, 1), (1, 10 * longest, 1), (1, 1, largest + 1)):
        with pytest.raises(TranscriptError):
            with_long_integers(lambda wrong=wrong: answer(*wrong))


def with_long_integers(function):
    """Call a function that writes integers of more digits than Python writes by default."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(10_000)
    try:
        return function()
    finally:
        sys.set_int_max_str_digits(limit)
