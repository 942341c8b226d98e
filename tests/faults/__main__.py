"""``python -m tests.faults``: damage answers, engines, files, certificates, studies; lie; print a table.

Everything random comes from ``--seed``. The exit status is 1 if anything went wrong.
"""

import argparse
import sys
import time

from tests.faults import answers, certificates, engines, lies, parsers, studies
from tests.faults.table import text

SUBJECTS = ("answers", "lies", "engines", "parsers", "certificates", "studies")


def main():
    """Run what was asked for, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_500, help="damaged answers [default: 10500]")
    parser.add_argument("--lies", type=int, default=10_000, help="lies of engines [default: 10000]")
    parser.add_argument("--fuzz", type=int, default=32_000, help="files for parsers [default: 32000]")
    parser.add_argument("--certificates", type=int, default=500, help="of each kind [default: 500]")
    parser.add_argument("--kills", type=int, default=8, help="killed studies [default: 8]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=SUBJECTS)
    parser.add_argument("--long", action="store_true", help="1,000,000 files, 100,000 answers, 50 kills")
    given = parser.parse_args()
    if given.long:
        given.cases, given.lies, given.fuzz = 100_000, 100_000, 1_000_000
        given.certificates, given.kills = 5000, 50

    started = time.monotonic()

    def say(line):
        print(f"{time.monotonic() - started:7.1f} s  {line}", file=sys.stderr, flush=True)

    subjects = {
        "engines": lambda: engines.tried(say=say),
        "certificates": lambda: certificates.tried(given.certificates, given.seed),
        "parsers": lambda: parsers.tried(given.fuzz, given.seed, say),
        "studies": lambda: studies.tried(given.kills, given.seed, say),
        "answers": lambda: answers.tried(given.cases, given.seed, say=say),
        "lies": lambda: lies.tried(given.lies, given.seed, say=say),
    }
    rows = []
    for name, tried in subjects.items():
        if given.only in (None, name):
            rows += tried()
            say(f"{name} done")
    print(text(rows))
    say("all done")
    return int(any(row.wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
