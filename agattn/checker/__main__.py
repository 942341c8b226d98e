"""Verify a certificate: ``python -m agattn.checker FILE``. Exit status: 0 valid, 1 not, 2 unreadable."""

import sys
from pathlib import Path

from agattn.checker import UnreadableError, check, described, load


def main(arguments: list[str]) -> int:
    """Print what the certificate in a file proves; the exit status."""
    if len(arguments) != 1:
        print("usage: python -m agattn.checker FILE", file=sys.stderr)
        return 2
    try:
        result = check(load(Path(arguments[0]).read_text(encoding="utf-8-sig")))
    except (UnreadableError, OSError, UnicodeDecodeError) as error:
        print(f"{arguments[0]} is not a certificate: {error}", file=sys.stderr)
        return 2
    print(described(result))
    return 0 if result["valid"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
