"""The report of a network of several layers: its dimension from both sides, and what the formulas say.

Here its values are computed; its sentences are in the templates ``network.j2`` and those that it includes.

>>> from agattn.architectures import DeepNetwork
>>> from agattn.verification.verify import Settings
>>> document, _, status = network_report(DeepNetwork((3, 3, 3), (1, 2), t=3), Settings(), pictures=False)
>>> document.summary.partition(" Of ")[0]
'Dimension 18, proved. Equation 14 of HMK gives 20, but its hypotheses do not hold: a_i ≥ 2.'
>>> status
0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agattn.architectures import DeepNetwork
from agattn.claims import CLAIMS
from agattn.display.values import paper_equation, tables
from agattn.evidence import Evidence
from agattn.geometry.dimension.dimension import Dimension, dimension
from agattn.reports.document import Document, Picture, sections
from agattn.reports.drawing import image, save
from agattn.reports.figure2 import draw_figure_2, reading
from agattn.reports.layer_report import shared_values, summary
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
    plain = network.is_lightning and set(network.heads_by_layer) == {1} and not network.skip
    product, tree = "", None
    if plain and 2 <= network.layers <= _MOST_LAYERS_DRAWN:
        product = f"φ(X) = L {reading(network.layers)}"
        if pictures:
            drawn = image("tree.svg", lambda path: save(draw_figure_2(network.layers), path))
            caption = f"The network as a ternary tree, Figure 2 of HMK for l = {network.layers}."
            tree = Picture("tree.svg", drawn, f"Ternary tree of the product {product}.", caption)
    document = Document(
        title(network),
        f"{_summary(found)} {summary(verified.verdicts)}",
        sections(
            "network",
            network=network,
            architecture=replace(tables(network)[0], caption="The architecture"),
            dimension=tuple(tables(found)),
            product=product,
            tree=tree or (),
            **shared_values(verified, CLAIMS, settings, command),
        ),
        clock=f"The dimension took {found.seconds:.1f} s, the claims {verified.seconds:.1f} s.",
    )
    unproved = verified.exit_status == 0 and found.evidence is not Evidence.PROVED
    status = 3 if unproved else verified.exit_status
    return document, [verdict.as_json() for verdict in verified.verdicts], status


def title(network: DeepNetwork) -> str:
    """The title of the report of a network."""
    return f"Self-attention network {network}"


def _summary(found: Dimension) -> str:
    known = f"Dimension {found.dimension}, {found.evidence}"
    if found.evidence is not Evidence.PROVED:
        known += f"; proved between {found.lower_bound} and {found.upper_bound}"
    said = f"{known}. {paper_equation(found.network).capitalize()} of HMK gives"
    if failing := found.paper_hypotheses_failing:
        return f"{said} {found.paper}, but its hypotheses do not hold: {'; '.join(failing)}."
    return f"{said} {found.paper if found.defect else 'the same'}."
