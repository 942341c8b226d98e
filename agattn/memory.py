"""How much memory there is, the refusal of what would need more, and what was taken in the end.

>>> from agattn.limits import limited
>>> Memory().allow(2**20, "a matrix")
>>> with limited(native=1024):
...     Memory().allow(2**31, "a matrix of 16384 rows")
Traceback (most recent call last):
    ...
agattn.errors.TooLargeError: a matrix of 16384 rows: up to 2.0 GiB of memory, and 1.0 GiB are allowed. Lower
max_degree, raise memory, or use force=True
"""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass, field
from pathlib import Path

from agattn.errors import TooLargeError, argument
from agattn.limits import limits, log

#: Needs above this, in bytes, are told before the work begins, and what was taken is told after it.
LARGE = 2**30
#: What a process takes beside its arrays: imports, and memory that is free and not given back.
_BESIDE = 2**26

_MEMINFO, _STATM, _STATUS = Path("/proc/meminfo"), Path("/proc/self/statm"), Path("/proc/self/status")
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


def highest() -> int:
    """The most bytes of memory that this process had at any time.

    >>> highest() > 2**22
    True
    """
    if _STATUS.exists():  # getrusage also counts what a parent had that started this process
        lines = _STATUS.read_text().splitlines()
        if peak := [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]:
            return peak[0]
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def held() -> int:
    """The bytes of memory that this process has now; where the machine does not say, the most it had."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return highest()


def in_words(size: float) -> str:
    """A number of bytes as it is printed.

    >>> in_words(2**31), in_words(2**26)
    ('2.0 GiB', '64 MiB')
    """
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


@dataclass
class Memory:
    """What a computation may take: ``limits().native`` MiB, or what the machine has when it is asked.

    Attributes:
        instead: what the message of a refusal says to do; by default to lower the degree.
    """

    instead: str = ""
    #: The largest need since the last check, with its name; what was held, and the most that was, before it.
    _need: float = field(default=0.0, init=False)
    _what: str = field(default="", init=False)
    _before: tuple[int, int] | None = field(default=None, init=False)

    def allow(self, need: float, what: str) -> None:
        """Refuse what needs more bytes than are allowed; ``what`` is named in the message.

        Raises:
            TooLargeError: if the limit is exceeded, unless forced.

        See Also:
            :meth:`check`, which compares the need with what was taken.
        """
        self._before = self._before or (held(), highest())
        if need > self._need:
            self._need, self._what = need, what
        native = limits().native
        if need <= LARGE and native is None:
            return
        limit = available() if native is None else native * 2**20
        if need > LARGE:
            log.info(f"{what}: up to {in_words(need)} of memory")
        if need > limit and not limits().force:
            lower, memory, force = argument("max_degree"), argument("memory"), argument("force", True)
            instead = self.instead or f"Lower {lower}, raise {memory}, or use {force}"
            raise TooLargeError(
                f"{what}: up to {in_words(need)} of memory, and {in_words(limit)} are allowed. {instead}"
            )

    def check(self) -> None:
        """Tell what was taken since the first need, if a need was large or was exceeded; forget the needs.

        This process is measured as a whole: 64 MiB more than the largest need are no excess, and nothing is
        seen below the most that the process held before.

        >>> memory = Memory()
        >>> memory.allow(2**20, "a matrix")
        >>> memory.check()
        """
        if self._before is None:
            return
        (start, most), need, what = self._before, self._need, self._what
        self._before, self._need = None, 0.0
        taken = max(0, (now := highest()) - start)
        if now > most and taken > need + _BESIDE:
            log.info(
                f"{what}: {in_words(taken)} of memory were taken, more than the bound of {in_words(need)};"
                " please report it"
            )
        elif need > LARGE:
            log.info(f"{what}: at most {in_words(taken)} of memory were taken")
