"""Figure spectrum: two computations of the bands, and its pictures."""

import pytest
from command_line import call

import agattn as ag
from agattn.reports.figure_spectrum import FigureSpectrum, compute_figure_spectrum
from agattn.sheet.result import check

SMALL = ag.DeepNetwork((2, 2, 2), (1, 1), t=2, normalization="softmax")


@pytest.fixture(scope="module")
def figure():
    return ag.figure("spectrum", architecture=SMALL, digits=40, last=9)


def test_high_precision_has_the_slopes_of_the_smith_form_and_floats_lose_a_band(figure):
    assert [(one.order, one.multiplicity) for one in figure.spectrum.orders] == [(0, 4), (1, 3), (5, 3)]
    before, last = figure.scales[-2:]
    slopes = [(x - y) / 0.30103 for x, y in zip(before.values, last.values, strict=True)]
    assert slopes == pytest.approx([0] * 4 + [1] * 3 + [5] * 3, abs=0.02)
    assert figure.scales[0].above == 10 and last.above == 7
    assert last.floats[:7] == pytest.approx(last.values[:7], abs=1e-6)
    assert max(last.floats[7:]) < last.cutoff < min(last.values[:7])
    assert figure.lines[0] == str(figure.spectrum)
    assert " ".join(figure.lines[-1].split()) == "s = 2⁻⁹ 10 in 40 digits 7 in float64"
    check(FigureSpectrum, figure.as_json())


def test_it_is_drawn_on_paper_and_as_a_page(figure, tmp_path):
    pytest.importorskip("matplotlib")
    axes = figure.drawing().axes[0]
    drawn = [line for line in axes.lines if len(line.get_xdata()) == 9 and line.get_linestyle() == "-"]
    assert len(drawn) == 10 and {len({*line.get_ydata()}) > 1 for line in drawn} == {True}
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[2] == "3 of order 5, 40 digits" and labels[-1] == "cutoff of a rank in float64"
    figure.save(tmp_path / "bands.png")
    figure.save(tmp_path / "bands.html")
    assert "3 of order 5" in (tmp_path / "bands.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_twelve_of_ninety_six_drown_in_floats():
    found = compute_figure_spectrum(last=5)
    assert found.spectrum.kernel == 44 and found.spectrum.parameters == 96
    last = found.scales[-1]
    assert (len(last.values), last.above) == (52, 40)


def test_its_options_are_named():
    ended = call("figure", "spectrum", "--layers", "3")
    assert ended.status == 2 and "--layers is for figure 2" in ended.err
    with pytest.raises(ag.InputError, match="figure spectrum has no option 'radius'; it takes architecture"):
        ag.figure("spectrum", radius=2)
