"""``python -m agattn`` is ``agattn``."""

import gc
import signal

# A command is short, and makes most of its objects while it imports: there is little garbage to look for.
gc.set_threshold(100_000)
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main is there an interrupt ends this silently

from agattn.cli import interrupts  # noqa: E402
from agattn.cli.main import main as command_line  # noqa: E402


def main() -> None:
    """Run the command line; while Python ends, an interrupt is as silent as before."""
    try:
        command_line()
    finally:
        interrupts.release()
        # Python would look at every object once more, a tenth of the time of a short command.
        gc.disable()
        gc.freeze()


if __name__ == "__main__":
    main()
