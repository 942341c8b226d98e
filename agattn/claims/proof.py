"""What a certificate holds that proves a claim, beside the proof itself in ``agattn/checker.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from agattn.architectures import Architecture
from agattn.errors import DisagreementError
from agattn.evidence import Verdict

if TYPE_CHECKING:
    import numpy as np

    from agattn.algebra.echelon import Matrix

A = TypeVar("A", bound=Architecture)
#: The position of a nonzero number, from 1, and the number.
Entry = list[int]
#: Why a claim has no certificate, where nothing more is to be said.
NO_PROOF = "the checker knows no proof of it by finitely many integers"


@dataclass(frozen=True)
class Proof(Generic[A]):
    """The integers from which the checker proves a claim.

    Every certificate of a layer holds points, preimages, arcs and equations for each stratum. The attributes
    say what a certificate holds for one claim beyond that.

    Attributes:
        document: keys of the document and their values as JSON, from the architecture and a generator of
            random numbers; raises an InputError where there is nothing to prove.
        record: keys of the claim's own record, from its verdict.
        spaces: whether the claim needs the tangent spaces of all strata.
    """

    document: Callable[[A, np.random.Generator], dict[str, Any]] = lambda architecture, generator: {}
    record: Callable[[Verdict], dict[str, Any]] = lambda verdict: {}
    spaces: bool = False


def entries(matrix: Matrix, scale: int = 1) -> list[Entry]:
    """The nonzero entries of a matrix, which are integers after scaling: [row, column, value].

    >>> entries([[0, 3], [0, 0]])
    [[1, 2, 3]]

    Raises:
        DisagreementError: if an entry is no integer after scaling.
    """
    found = []
    for i, row in enumerate(matrix, start=1):
        for j, entry in enumerate(row, start=1):
            value = Fraction(entry) * scale
            if value.denominator != 1:
                raise DisagreementError(f"a certificate has integers only, not {value}")
            found += [[i, j, int(value)]] if value else []
    return found
