"""What the checker of certificates finds, as a result.

>>> claim = {"id": "theorem-3.4.singular", "valid": True, "reason": "it fails at (2,1,2)"}
>>> found = Checked({"valid": True, "flaw": "", "layer": "M(3,2,2)", "claims": [claim]})
>>> found.summary(), found["valid"]
('The certificate is valid, about M(3,2,2)', True)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agattn import checker
from agattn.calls import shown
from agattn.errors import InputError
from agattn.sheet.data import Sheet, Table, Wide, Word
from agattn.sheet.result import UNSET, Described, Key, Result, UnsetType, key


class CheckedClaim(Result):
    """What the checker found of one claim."""

    id: Key[str, "The claim."]
    valid: Key[
        bool | None, "Whether the claim is proved; null if the file says that it does not certify the claim."
    ]
    reason: Key[str, "What is proved, why it is not certified, or what is wrong."]

    def summary(self) -> str:
        """The claim in a line."""
        return f"{self.id}: {_WORDS[self.valid]}. {self.reason}"


class Checked(Described, dict[str, Any], name="check"):
    """What the checker found; prints as ``agattn check`` does."""

    @key
    def valid(self) -> bool:
        """All certificates in the file hold, and there is at least one."""
        return bool(self["valid"])

    @key
    def flaw(self) -> str:
        """What is wrong; empty if nothing is."""
        return str(self["flaw"])

    @key
    def layer(self) -> str:
        """The architectures the file is about; empty where it does not say so consistently."""
        return str(self["layer"])

    @key
    def claims(self) -> list[CheckedClaim]:
        """Every claim in the file."""
        return [CheckedClaim(**claim) for claim in self["claims"]]

    @key
    def uncertified(self) -> list[str] | UnsetType:
        """Other claims of which the file says that it does not certify them."""
        return [*self["uncertified"]] if "uncertified" in self else UNSET

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Checked:
        """What a document says that the checker found."""
        return cls({name: value for name, value in data.items() if name != "schema"})

    def summary(self) -> str:
        """Whether the certificate is valid, or the flaw, in a line."""
        outcome = "The certificate is valid" if self.valid else f"Not valid: {self.flaw}"
        return f"{outcome}{f', about {self.layer}' if self.layer else ''}"

    def __str__(self) -> str:
        return checker.described(self)

    def sheet(self) -> Sheet:
        """What was found of each claim."""
        rows = tuple((claim.id, Word(_WORDS[claim.valid]), claim.reason) for claim in self.claims)
        table = Table(self.summary(), ("claim", "result", Wide("what it says")), rows)
        return Sheet(self.summary(), (table,))


_WORDS = {True: "valid", False: "not valid", None: "not certified"}


def check(document: Any) -> Checked:
    """Verify a certificate again, with nothing but Python's integers.

    Args:
        document: what :func:`agattn.certificate` returns, a mapping, or the path of a JSON file.

    Raises:
        InputError: if it is no certificate.

    See Also:
        :func:`agattn.certificate`, :func:`agattn.verify`; ``agattn check`` in a shell.

    >>> import agattn as ag
    >>> ag.check(ag.certificate(ag.SingleLayer(2, 1), "theorem-3.4"))["valid"]
    True
    """
    try:
        return Checked(checker.check(document))
    except checker.UnreadableError as error:
        raise InputError(f"{shown(document)} cannot be checked: {error}") from error
