"""A kind of layer that the package does not know: what is generic works from the protocol alone."""

import doctest
from pathlib import Path

import pytest

from agattn.claims.network_dimension import by_paper
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import dimension

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "layer.md"


@pytest.fixture(scope="module")
def perceptron():
    """The class of the page, as a reader would type it."""
    examples = doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))
    names = {"__name__": "page"}
    for example in examples:
        if example.source.startswith(("from dataclasses", "from agattn.architectures", "@dataclass")):
            exec(example.source, names)
    return names["Perceptron"]


@pytest.mark.parametrize(
    ("n", "s", "r", "value"),
    [
        # Alexander and Hirschowitz: min(sn, C(n+r-1, r)) but for r = 2 and four exceptions.
        (2, 2, 3, 4), (2, 3, 3, 4), (3, 2, 3, 6), (3, 3, 3, 9), (3, 4, 3, 10), (3, 4, 4, 12), (4, 3, 3, 12),
        (3, 5, 4, 14), (4, 9, 4, 34), (5, 7, 3, 34), (5, 14, 4, 69),
        # Quadrics in n variables of rank at most s.
        (3, 2, 2, 5), (4, 2, 2, 7), (4, 3, 2, 9), (4, 4, 2, 10),
    ],
)  # fmt: skip
def test_sums_of_powers(perceptron, n, s, r, value):
    found = dimension(perceptron(n, s, r))
    assert found.dimension == value == found.lower_bound
    assert found.upper_bound == s * n  # one scaling for each neuron
    assert (found.evidence is Evidence.PROVED) == (value == s * n)
    assert found.predicted is None and by_paper(found) is None
