"""What most architectures say in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from agattn.sheet.data import Math, Sheet, Table, Wide
from agattn.sheet.result import Described, keys


class Parametrized(Described):
    """A family of maps with parameters of some shapes: a model, known by its values and by no coordinates."""

    kind: ClassVar[str] = "model"
    options: ClassVar[tuple[str, str]] = ("a model file", "ag.Network(layers, dim)")

    if TYPE_CHECKING:  # at run time these are fields or properties of the classes

        @property
        def shapes(self) -> Mapping[str, tuple[int, ...]]:
            """The parameters."""

        @property
        def input_shape(self) -> tuple[int, int]:
            """The shape of X."""

    @property
    def t(self) -> int:
        """The number of tokens, the columns of X."""
        return self.input_shape[1]

    @property
    def tokens(self) -> int:
        """The same."""
        return self.t

    @property
    def ambient_dimension(self) -> int | None:
        """``None``: it is known by its values, not by coordinates."""
        return None

    @property
    def parameters(self) -> int:
        """The number of entries of all parameters."""
        return sum(map(prod, self.shapes.values()))

    @property
    def name(self) -> str:
        """All that defines it, as it is printed."""
        return str(self)

    def as_network(self) -> Any:
        """``None``: it is no network of attention layers."""

    @property
    def caption(self) -> str | Math:
        """What its sheet is called."""
        return self.summary()

    def sheet(self) -> Sheet:
        """A row for each key with its meaning, and for the numbers of parameters and coordinates."""
        [table, *_] = super().sheet().tables
        kinds = (kind.__metadata__ for _, _, kind in keys(cast(Any, type(self))))
        notes = [note for metadata in kinds for note in metadata if isinstance(note, str)]
        rows = [(*row, note) for row, note in zip(table.rows, notes, strict=True)]
        rows.append(("parameters", self.parameters, "The number of entries of all parameters."))
        if self.ambient_dimension is not None:
            rows.append(("coordinates", self.ambient_dimension, "The dimension of the space around M."))
        headings = ("key", "value", Wide("meaning"))
        return Sheet(self.summary(), (Table(self.caption, headings, tuple(rows)),))
