"""Tables in LaTeX compile in a paper."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import agattn as ag

PAPER = r"""\documentclass{article}
\usepackage{amsmath, amssymb, booktabs}
\begin{document}
%s
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_tables_of_verdicts_and_of_strata_compile(tmp_path):
    layer, network = ag.SingleLayer(3, 2, 2), ag.DeepNetwork((4, 3, 4), (2, 2), 3)
    results = (ag.verify(layer), ag.strata(layer), ag.verify(network), ag.dimension(network))
    (tmp_path / "paper.tex").write_text(PAPER % "\n\n".join(result.to_latex() for result in results))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert printed.returncode == 0, printed.stdout[-2000:]
