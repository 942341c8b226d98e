"""Verify a certificate: ``python -m agattn.check FILE`` runs :mod:`agattn.checker`, which says how.

The module has the name of the verb ``agattn.check(document)``, and takes its place in the package when it is
imported; so it can be called, and does the same.
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
