"""``python -m agattn`` is ``agattn``."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main is there an interrupt ends this silently

from agattn.cli import interrupts
from agattn.cli.main import main as command_line


def main() -> None:
    """Run the command line; while Python ends, an interrupt is as silent as before."""
    try:
        command_line()
    finally:
        interrupts.release()


if __name__ == "__main__":
    main()
