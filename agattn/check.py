"""Verify a certificate: ``python -m agattn.check FILE`` runs :mod:`agattn.checker`, which says how.

An import of this module puts the module in the place of the verb ``agattn.check``, which has the same name.
So the module can be called, and does what the verb does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from agattn import checker

if TYPE_CHECKING:
    from inspect import Signature

    from agattn.verification.checked import Checked


class Verb(ModuleType):
    """A module that can be called like the verb of its name."""

    def __call__(self, *args: Any, **named: Any) -> Checked:
        """Verify a certificate; see :func:`agattn.library.check`."""
        from agattn.library import verb

        found: Checked = verb("check")(*args, **named)
        return found

    @property
    def __signature__(self) -> Signature:
        """The parameters of the verb, for :func:`help` and completion."""
        import inspect

        from agattn.library import verb

        return inspect.signature(verb("check"))


if __name__ == "__main__":
    sys.exit(checker.main(sys.argv[1:]))
sys.modules[__name__].__class__ = Verb
