import itertools
from fractions import Fraction

import pytest

from agattn.errors import InputError
from agattn.geometry.dimension.dimension import dimension
from agattn.studies.sample_complexity import TRANSFORMERS, compare, full_rank_ratio, transformer


@pytest.mark.parametrize("l", [1, 2, 5, 40])
def test_the_papers_asymptotics(l):
    limit = Fraction(3 * l, l + 1)
    gaps = [full_rank_ratio(10**k, l) - limit for k in range(1, 5)]
    assert all(gap > 0 for gap in gaps)
    assert all(100 * b < 1.1 * a for a, b in itertools.pairwise(gaps))  # the gap falls like 1/d²
    assert limit < 3


def test_the_formula_behind_the_ratio_is_computed():
    from agattn import DeepNetwork

    result = dimension(DeepNetwork((4, 4, 4), (4, 4), 3))
    assert result.lower_bound == result.upper_bound == 3 * 16 - 2
    assert Fraction(result.parameters, result.dimension) == full_rank_ratio(4, 2)


def test_named_transformers():
    rows = compare()
    assert [row.name for row in rows] == list(TRANSFORMERS)
    assert all(row.parameters > row.dimension for row in rows)
    small = next(row for row in rows if row.name == "gpt2-small")
    assert small.parameters == 12 * 4 * 768 * 768
    with pytest.raises(InputError, match="no transformer 'gpt9'"):
        transformer("gpt9")
