"""Worker processes that end with the process that started them, however that ended.

>>> from concurrent.futures import ProcessPoolExecutor
>>> with ProcessPoolExecutor(2, initializer=end_with_parent) as processes:
...     list(processes.map(abs, [-1, 2]))
[1, 2]
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import sys
import threading


def end_with_parent() -> None:
    """Let this process, one of multiprocessing, end soon after the one that started it.

    A pipe whose other end its parent holds is closed when the parent is gone, also where a signal killed it.
    Workers that were started later may hold this end, too: the last one ends first. Linux sends a signal
    then, which ends a process also in a long call of C code; elsewhere a thread waits for the end.
    """
    if parent := multiprocessing.parent_process():
        if sys.platform == "linux":
            fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)

        def wait() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait, daemon=True).start()
