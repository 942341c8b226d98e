import csv
import io
from fractions import Fraction

import flint
import pytest
from command_line import call

from agattn.architectures import SingleLayer
from agattn.evidence import Status
from agattn.geometry.ideal.ideal import compute_ideal
from agattn.geometry.strata.strata import Stratum, strata, stratum_of
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import coefficients, coordinates
from agattn.reports.counterexample import counterexample, tangent_vectors
from agattn.reports.document import Attachment, Text, sections
from agattn.sheet.data import Math, Table
from agattn.verification.strata_table import singular_by_paper
from agattn.verification.verify import verify

LAYER = SingleLayer(3, 2, 2)


def section_of(layer):
    verdicts = verify(layer, ("theorem-3.4.singular", "corollary-A.4"), "native").verdicts
    values = counterexample(layer, verdicts)
    return sections("counterexample", layer=layer, **values) if values else ()


@pytest.mark.parametrize(
    ("layer", "number", "dimension"),
    [(LAYER, 14, 13), (SingleLayer(4, 1, 3), 19, 18), (SingleLayer(4, 2, 2), 23, 19)],
)
def test_every_refuted_stratum_has_more_independent_vectors_than_the_dimension(layer, number, dimension):
    refuted = [
        s for s in strata(layer)
        if not s.is_zero and tangent_bounds(layer, s).singular and not singular_by_paper(layer, s)
    ]  # fmt: skip
    assert refuted
    for stratum in refuted:
        shown = tangent_vectors(layer, stratum)
        assert stratum_of(shown.A, shown.V) == stratum and len(shown.vectors) == number > dimension
        assert shown.is_triangular and shown.bounds.dimension == dimension
        for n, vector in enumerate(shown.vectors):
            assert vector.entries[vector.own]
            assert not any(vector.own in later.entries for later in shown.vectors[n + 1 :])


def test_the_vectors_are_tangent():
    """The gradients of all quadrics and cubics, which were found another way, annihilate them."""
    shown = tangent_vectors(LAYER, Stratum(2, 1, 2))
    names = coordinates(LAYER)
    p = dict(zip(names, coefficients(LAYER, shown.A, shown.V), strict=True))
    checked = 0
    for equation in compute_ideal(LAYER, 3):
        f = equation.polynomial()
        at = [p[tuple(v.indices)] for v in f.ring.variables]
        assert f(*at) == 0
        gradient = {
            tuple(v.indices): f.derivative(x)(*at) for v, x in zip(f.ring.variables, f.ring.gens, strict=True)
        }
        checked += any(gradient.values())
        for vector in shown.vectors:
            assert sum(gradient.get(name, 0) * value for name, value in vector.entries.items()) == 0
    assert checked >= 22  # as many as the tangent space leaves room for, at least


def test_the_curves_are_as_written():
    """y(A + εE, V) and y(A, V + εE), for the E that the table names, begin with the vectors it names."""
    shown = tangent_vectors(LAYER, Stratum(2, 1, 2))
    names, epsilon = coordinates(LAYER), Fraction(1, 7)
    p = coefficients(LAYER, shown.A, shown.V)
    for vector in shown.vectors:
        A, V = ([list(row) for row in M] for M in (shown.A, shown.V))
        for letter, M in (("A", A), ("V", V)):
            part = next(x for x in vector.curve.split(", \\ ") if x.startswith(letter))
            if "E_{" in part:
                i, k = part.partition("E_{")[2][:2]
                M[int(i) - 1][int(k) - 1] += epsilon
        moved = [(y - y0) / epsilon for y, y0 in zip(coefficients(LAYER, A, V), p, strict=True)]
        assert {name: y for name, y in zip(names, moved, strict=True) if y} == vector.entries


def test_the_section(tmp_path):
    [section] = section_of(LAYER)
    formulas = [block.latex for block in section.blocks if isinstance(block, Math)]
    [table] = [block for block in section.blocks if isinstance(block, Table)]
    text = " ".join(block.text for block in section.blocks if isinstance(block, Text))
    assert r"u_{1}^{2} & 0 & 0 \\ u_{1} u_{2} & 0 & 0" in formulas[0] and len(table.rows) == 14
    assert "2·4 + 6 − 1 = 13" in text and "Theorem 3.4, singular points and Corollary A.4" in text
    files = {block.name: block.text for block in section.blocks if isinstance(block, Attachment)}
    assert list(files) == ["tangent-vectors-212.csv", "tangent-vectors-213.csv"]
    for name, content in files.items():
        rows = [list(map(int, row)) for row in csv.reader(io.StringIO(content))]
        assert flint.fmpz_mat(rows).rank() == 14 and {len(row) for row in rows} == {36}
        # The command that the page names.
        (tmp_path / name).write_text(content)
        assert call("rank", tmp_path / name).out.startswith("rank 14 (proved)")


def test_nothing_is_shown_where_nothing_is_refuted():
    assert section_of(SingleLayer(2, 1)) == ()
    verdicts = verify(SingleLayer(2, 1), (), "native").verdicts
    assert all(v.status is not Status.REFUTED for v in verdicts)
