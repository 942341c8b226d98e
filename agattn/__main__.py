"""``python -m agattn`` is ``agattn``."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main is there an interrupt ends this silently

from agattn.cli.main import main

if __name__ == "__main__":
    main()
