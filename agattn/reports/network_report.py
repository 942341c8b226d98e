"""The report of a network of several layers: its dimension from both sides, and what the formulas say.

>>> from agattn.architectures import DeepNetwork
>>> from agattn.verification.verify import Settings
>>> document, _, status = network_report(DeepNetwork((3, 3, 3), (1, 2), t=3), Settings(), pictures=False)
>>> document.summary.partition(" Of ")[0]
'Dimension 18, proved. Equation 14 of HMK gives 20, but its hypotheses do not hold: a_i ≥ 2.'
>>> status
0
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agattn.architectures import DeepNetwork
from agattn.claims.network import CLAIMS
from agattn.display.table import Cell, Lines, Math, Table, Word
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.reports.document import Block, Document, Picture, Section, Text
from agattn.reports.figure2 import reading
from agattn.reports.layer_report import claims_blocks, provenance, scripts, sources, summary
from agattn.verification.verify import Settings, verify

_MOST_LAYERS_DRAWN = 3


def network_report(
    network: DeepNetwork,
    settings: Settings,
    *,
    pictures: bool = True,
    command: str = "",
    progress: Callable[[str], None] = lambda message: None,
) -> tuple[Document, list[dict[str, Any]], int]:
    """Compute the dimension of a network and write down what is known about it.

    Returns the document, the claims as JSON-ready data, and the exit status: that of the claims, and 3
    instead of 0 if the dimension is not proved.
    """
    progress("the dimension")
    found = dimension(network, settings.seed, force=settings.force)
    verified = verify(network, (), settings, progress)
    sections = [
        _question(network),
        _dimension(found),
        Section("Claims", tuple(claims_blocks(verified.verdicts, CLAIMS))),
        _unrolled(network, pictures),
        *scripts(verified),
        provenance(settings, command, sources(verified.verdicts)),
    ]
    document = Document(
        title(network),
        f"{_summary(found)} {summary(verified.verdicts)}",
        tuple(section for section in sections if section.blocks),
        clock=f"The dimension took {found.seconds:.1f} s, the claims {verified.seconds:.1f} s.",
    )
    status = verified.exit_status
    if status == 0 and found.evidence is not Evidence.PROVED:
        status = 3
    return document, [verdict.as_json() for verdict in verified.verdicts], status


def title(network: DeepNetwork) -> str:
    """The title of the report of a network."""
    return f"Self-attention network {network}"


def _equation(network: DeepNetwork) -> str:
    if network.layers == 1:
        return "Equation 7"
    return "Equation 14" if network.is_lightning else "Equation 16"


def _summary(found: Dimension) -> str:
    known = f"Dimension {found.dimension}, {found.evidence}"
    if found.evidence is not Evidence.PROVED:
        known += f"; proved between {found.lower_bound} and {found.upper_bound}"
    name, failing = _equation(found.network), found.paper_hypotheses_failing
    if not failing:
        verb = "gives the same" if not found.defect else f"gives {found.paper}"
        return f"{known}. {name} of HMK {verb}."
    return (
        f"{known}. {name} of HMK gives {found.paper}, but its hypotheses do not hold: {'; '.join(failing)}."
    )


def _question(network: DeepNetwork) -> Section:
    form = (
        r"X \mapsto \sum_h V_h X X^{\top} A_h X"
        if network.is_lightning
        else r"X \mapsto \sum_h V_h X S(X^{\top} A_h X)"
    )
    rows: list[tuple[Cell, ...]] = [
        ("widths", Math(r"d_0, \ldots, d_l"), ", ".join(map(str, network.dims))),
        ("attention dimensions", Math(r"a_1, \ldots, a_l"), ", ".join(map(str, network.ranks))),
        ("heads in each layer", Math("h"), ", ".join(map(str, network.heads_by_layer))),
        ("skip connections", "", "yes" if network.skip else "no"),
        ("normalization", "", network.normalization),
        ("tokens", Math("t"), str(network.t)),
        ("parameters", "", str(network.parameters)),
    ]
    blocks: list[Block] = [
        Text(
            "A network composes layers of self-attention. Its neuromanifold is the set of all functions it "
            "can compute. The question: what is its dimension, and how is that known?"
        ),
        Math(form),
        Table("The architecture", ("quantity", "symbol", "value"), tuple(rows)),
    ]
    return Section("What was asked", tuple(blocks))


def _dimension(found: Dimension) -> Section:
    shape = " × ".join(map(str, found.jacobian_shape))
    hypotheses: Cell = "its hypotheses hold"
    if found.paper_hypotheses_failing:
        hypotheses = Lines(("its hypotheses do not hold:", *found.paper_hypotheses_failing))
    rows: list[tuple[Cell, ...]] = [
        ("dimension", str(found.dimension), Word(str(found.evidence)), "the bounds below, where they meet"),
        (
            "at least",
            str(found.lower_bound),
            Word("proved"),
            f"a nonzero minor of a Jacobian of shape {shape}",
        ),
        ("at most", str(found.upper_bound), Word("proved"), found.upper_bound_reason),
        ("general formula", str(found.predicted), Word(""), "the count of parameters less symmetries"),
        (f"HMK, {_equation(found.network).lower()}", str(found.paper), Word(""), hypotheses),
    ]
    blocks: list[Block] = [
        Table("The dimension from both sides", ("what", "value", "evidence", "why"), tuple(rows))
    ]
    if found.ranks:
        points = tuple((str(r.rank), str(r.prime), str(r.rows), str(r.columns)) for r in found.ranks)
        blocks.append(
            Table("Ranks of the Jacobian at random points", ("rank", "modulo", "rows", "columns"), points)
        )
    return Section("Dimension", tuple(blocks))


def _unrolled(network: DeepNetwork, pictures: bool) -> Section:
    plain = network.is_lightning and set(network.heads_by_layer) == {1} and not network.skip
    if not plain or not 2 <= network.layers <= _MOST_LAYERS_DRAWN:
        return Section("The network unrolled", ())
    product = f"φ(X) = L {reading(network.layers)}"
    blocks: list[Block] = [
        Text(
            "In terms of L = V_l ⋯ V_1 and the virtual weights M_i the network is one product (HMK, "
            "equation 12): "
            f"{product}."
        )
    ]
    if pictures:
        from agattn.reports.drawing import save
        from agattn.reports.figure2 import draw_figure_2

        with tempfile.TemporaryDirectory(prefix="agattn-") as folder:
            path = Path(folder, "tree.svg")
            save(draw_figure_2(network.layers), path)
            blocks.append(
                Picture("tree.svg", path.read_bytes(), f"Ternary tree of the product {product}.",
                        f"The network as a ternary tree, Figure 2 of HMK for l = {network.layers}.")
            )  # fmt: skip
    return Section("The network unrolled", tuple(blocks))
