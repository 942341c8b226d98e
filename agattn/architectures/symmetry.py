"""The linear symmetries of parameters that architectures name: which group acts on which part of which array.

>>> from agattn.architectures import SingleLayer
>>> [(symmetry.name, symmetry.size) for symmetry in SingleLayer(3, 2, a=1).symmetries]
[('GL(a)', 1), ('scaling', 1)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Acted:
    """A parameter that a group acts on.

    Attributes:
        parameter: its name.
        axis: the axis of the part whose index transforms, -2 for rows or -1 for columns; ``None`` for a
            scaling, where n = 1 and the whole part is multiplied by g^weight.
        dual: whether it transforms by g⁻ᵀ; by g otherwise.
        index: the part of the array that is meant, such as ``(0,)`` for one head or ``(..., 2)`` for one
            column; all of it by default.
        weight: of a scaling.
    """

    parameter: str
    axis: int | None = None
    dual: bool = False
    index: tuple[Any, ...] = ()
    weight: int = 1

    @property
    def is_whole(self) -> bool:
        """Whether all of the array is meant."""
        return all(i == slice(None) for i in self.index)

    @property
    def is_part(self) -> bool:
        """Whether some, but not all, indices along an axis are meant."""
        return any(isinstance(i, slice) and i != slice(None) for i in self.index)


@dataclass(frozen=True)
class Symmetry:
    """A group GL(n) or O(n), n = ``size``: linear maps of the parameters that leave the function as it is."""

    name: str
    size: int
    on: tuple[Acted, ...]
    is_orthogonal: bool = False

    @property
    def leading(self) -> Acted:
        """The first part on which g acts itself, not g⁻ᵀ."""
        return next(one for one in self.on if not one.dual)

    @property
    def dimension(self) -> int:
        """n² of GL(n), n(n − 1)/2 of O(n)."""
        return self.size * (self.size - 1) // 2 if self.is_orthogonal else self.size**2

    def __str__(self) -> str:
        return f"{self.name} on {', '.join(dict.fromkeys(acted.parameter for acted in self.on))}"
