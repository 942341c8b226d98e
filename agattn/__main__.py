"""``python -m agattn`` is ``agattn``."""

from agattn.cli import main

if __name__ == "__main__":
    main()
