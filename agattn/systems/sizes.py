"""How large an architecture may be for what is computed natively."""

from __future__ import annotations

from agattn.architectures import Architecture
from agattn.errors import TooLargeError, argument

#: Linear algebra in more coordinates would fill the memory.
MAX_LINEAR_COORDINATES = 1000
#: Identities of networks are checked with exact matrices of t × t entries: minutes for 300 tokens.
MAX_TOKENS = 100


def check_size(architecture: Architecture) -> None:
    """Refuse an architecture that is too large for what is computed natively.

    Raises:
        TooLargeError: if it has more than 1000 coordinates, or where it has none more than 20,000 parameters
            or 100 tokens, or arrays that would fill the memory.
    """
    if (coordinates := architecture.ambient_dimension) is not None:
        sizes = [(coordinates, MAX_LINEAR_COORDINATES, "coordinates")]
    else:
        from agattn.geometry.dimension.jacobian import MAX_PARAMETERS  # layers do without its imports

        sizes = [
            (architecture.parameters, MAX_PARAMETERS, "parameters"),
            (architecture.t, MAX_TOKENS, "tokens"),
        ]
    for size, limit, what in sizes:
        if size > limit:
            raise TooLargeError(
                f"{architecture.name} has {size} {what}; the limit is {limit}. Use "
                f"{argument('force', True)} to "
                "start all the same"
            )
    if architecture.kind == "model":
        from agattn.architectures.composition import Network, check_arrays

        if isinstance(architecture, Network):
            check_arrays(architecture)
