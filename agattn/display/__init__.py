"""How values look in notebooks, in papers and on pages.

>>> from agattn import SingleLayer
>>> print(latex(SingleLayer(2, 1)))
$\\mathcal{M}(2,1,2) \\subset \\mathbb{R}^{6}, \\quad \\dim = 5, \\quad t \\geq 2$
>>> html(SingleLayer(2, 1)).count("<tr>")
9
"""


def html(value: object) -> str:
    """A value as the HTML tables that a notebook shows; formulas are MathML.

    Raises:
        TypeError: if no table is known for values of its type.
    """
    from agattn.display.values import tables
    from agattn.sheet.html import table_html

    return "".join(map(table_html, tables(value)))


def latex(value: object) -> str:
    """A value as LaTeX between dollars: its table without running text, or the formula that it is.

    Raises:
        TypeError: if no table is known for values of its type.
    """
    from agattn.display.values import tables
    from agattn.sheet.latex import table_latex

    return table_latex(tables(value)[0])
