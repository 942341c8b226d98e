"""What setup.cfg cannot say: the long description is the README without links into the clone."""

import re
from pathlib import Path

from setuptools import setup


def long_description(readme: str) -> str:
    """The README for pages that have no files beside it, such as those of a package index.

    The picture goes: these pages show pictures only from the address of a server, and remove inlined ones.
    The sentence about the picture then says how to draw it. Links to files of the clone become their text.
    """
    text = re.sub(r"<p align=\"center\">\n<img .*?</p>\n\n", "", readme, flags=re.DOTALL)
    text = text.replace("*The picture shows a slice", "*`agattn figure 1 -O umbrella.png` draws a slice")
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


if __name__ == "__main__":
    setup(
        long_description=long_description(Path(__file__).with_name("README.md").read_text(encoding="utf-8")),
        long_description_content_type="text/markdown",
    )
