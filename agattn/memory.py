"""How much memory there is, and the refusal of what would need more.

>>> from agattn.limits import limited
>>> allow(2**20, "a matrix")
>>> with limited(native=1024):
...     allow(2**31, "a matrix of 16384 rows")
Traceback (most recent call last):
    ...
agattn.errors.TooLargeError: a matrix of 16384 rows: up to 2.0 GiB of memory, and 1.0 GiB are allowed. Lower
max_degree, raise memory, or use force=True
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from agattn.errors import TooLargeError, argument
from agattn.limits import limits, log

#: Needs above this, in bytes, are told before the work begins.
LARGE = 2**30

_MEMINFO = Path("/proc/meminfo")
#: The limit and the use of a control group, by version 2 and version 1.
_GROUPS = [
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
]


def available() -> int:
    """The bytes that a process can still take before the machine, or its control group, has none left."""
    sizes = []
    if _MEMINFO.exists():
        lines = _MEMINFO.read_text().splitlines()
        sizes += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    for limit, used in _GROUPS:
        if limit.exists() and used.exists() and (most := limit.read_text().strip()).isdecimal():
            sizes.append(max(0, int(most) - int(used.read_text())))
    if not sizes:
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(sizes)


def in_words(size: float) -> str:
    """A number of bytes as it is printed.

    >>> in_words(2**31), in_words(2**26)
    ('2.0 GiB', '64 MiB')
    """
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


def number_allowed(number: int, need: float, what: str) -> int:
    """How many workers the memory allows of some, of which each takes up to so many bytes; at least one.

    >>> from agattn.limits import limited
    >>> with limited(native=1024, progress=print):
    ...     number_allowed(8, 2**28, "matrices")
    matrices: 8 workers need up to 2.0 GiB of memory, and 1.0 GiB are allowed; 4 are used
    4
    """
    native = limits().native
    limit = available() if native is None else native * 2**20
    if number == 1 or number * need <= limit or limits().force:
        return number
    fewer = max(1, int(limit // need))
    log.log(
        logging.WARNING if limits().workers else logging.INFO,
        f"{what}: {number} workers need up to {in_words(number * need)} of memory, and {in_words(limit)} are "
        f"{'free' if native is None else 'allowed'}; {fewer} {'is' if fewer == 1 else 'are'} used",
    )
    return fewer


def allow(need: float, what: str, instead: str = "") -> None:
    """Refuse what needs more bytes than ``limits().native`` MiB, or what the machine has now.

    Args:
        need: a bound, in bytes.
        what: needs them; named in the message.
        instead: what the message of a refusal says to do; by default to lower the degree.

    Raises:
        TooLargeError: if the limit is exceeded, unless forced.
    """
    native = limits().native
    if need <= LARGE and native is None:
        return
    limit = available() if native is None else native * 2**20
    if need > LARGE:
        log.info(f"{what}: up to {in_words(need)} of memory")
    if need > limit and not limits().force:
        lower, memory, force = argument("max_degree"), argument("memory"), argument("force", True)
        instead = instead or f"Lower {lower}, raise {memory}, or use {force}"
        raise TooLargeError(
            f"{what}: up to {in_words(need)} of memory, and {in_words(limit)} are allowed. {instead}"
        )
