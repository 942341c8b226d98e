"""What other packagers read agrees with setup.cfg, and the sdist holds what a clone holds."""

import configparser
import re
import runpy
import subprocess

import pytest
from command_line import ROOT

from agattn import __version__

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONDA = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")


def setup():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config


def lines(text):
    return [line for line in text.strip().splitlines() if line]


def test_the_conda_recipe_needs_what_the_package_needs():
    yaml, jinja2 = pytest.importorskip("yaml"), pytest.importorskip("jinja2")
    recipe = yaml.safe_load(jinja2.Template(CONDA).render(PYTHON="python"))
    assert recipe["package"] == {"name": "agattn", "version": __version__}
    options = setup()["options"]
    required = [re.sub(r"(?=>=)", " ", line) for line in lines(options["install_requires"])]
    assert recipe["requirements"]["run"] == [f"python {options['python_requires']}", *required]
    assert recipe["build"]["entry_points"] == lines(setup()["options.entry_points"]["console_scripts"])


def test_binder_installs_as_the_readme_does():
    """It reads a folder of this name; without one it takes Python 3.10, where agattn does not run."""
    script = ROOT / ".binder" / "postBuild"
    wanted = re.search(r"\.venv/bin/(pip .*\[all\]\S+) && \.venv/bin/(pip .*engines\.txt) ", README).groups()
    assert script.stat().st_mode & 0o100
    assert [line for line in lines(script.read_text(encoding="utf-8")) if line.startswith("pip")] == [*wanted]
    version = (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    named = f"Programming Language :: Python :: {version.removeprefix('python-')}"
    assert named in setup()["metadata"]["classifiers"]


def test_the_version_and_the_licence_are_the_same_everywhere():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (__version__, setup()["metadata"]["license_expression"])
    changelog = (ROOT / "docs" / "reference" / "changelog.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+), (\d.+)$", changelog, re.MULTILINE)
    day = cited["date-released"]
    assert newest.groups() == (__version__, f"{day.day} {day:%B} {day.year}")


def test_the_paper_is_short_and_cites_what_the_bibliography_has():
    """It has the authors of CITATION.cff, at most 1,000 words, and no work or address of its own."""
    yaml = pytest.importorskip("yaml")
    paper = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    entries = (ROOT / "docs" / "paper.bib").read_text(encoding="utf-8")
    bibliography = (ROOT / "docs" / "reference" / "bibliography.md").read_text(encoding="utf-8")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert yaml.safe_load(paper.split("---\n")[1])["authors"] == cited["authors"]
    assert len(paper.split()) <= 1000
    assert {*re.findall(r"@(\w+)", paper)} == {*re.findall(r"^@\w+\{(\w+),", entries, re.MULTILINE)}
    titles = re.findall(r"^ +title += \{(.*)\},?$", entries, re.MULTILINE)
    urls = re.findall(r"^ +url += \{(.*)\},?$", entries, re.MULTILINE)
    assert [text for text in (*titles, *urls) if re.sub("[{}]", "", text) not in bibliography] == []


def test_the_long_description_stands_without_the_clone():
    """Its links are addresses, it has no picture, and it is the README otherwise."""
    pytest.importorskip("setuptools")
    text = runpy.run_path(str(ROOT / "setup.py"))["long_description"](README)
    assert "docs/images/umbrella.png" in README and "](docs/" in README
    assert "<img" not in text and "](" in text and re.search(r"\]\((?!https?://)", text) is None
    assert "`agattn figure 1 -O umbrella.png` draws a slice of the neuromanifold" in text
    assert re.findall(r"^```.*?^```", text, re.M | re.S) == re.findall(r"^```.*?^```", README, re.M | re.S)
    assert "[`" not in text and len(text.split()) > 0.9 * len(README.split())


def test_the_sdist_takes_what_the_tests_need():
    """MANIFEST.in names all at the root, but for what setuptools takes itself and what no test needs."""
    known = {".ci", ".gitignore", "LICENSE", "MANIFEST.in", "README.md", "agattn"}
    known |= {"pyproject.toml", "setup.cfg", "setup.py"}
    named = set((ROOT / "MANIFEST.in").read_text(encoding="utf-8").split())
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no clone, or there is no git")
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} - known <= named
