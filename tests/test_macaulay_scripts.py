"""The package, the library and the scripts for readers without Python, on every version of the engines."""

import re
import subprocess
from pathlib import Path

import pytest

from agattn import __version__
from agattn.architectures import SingleLayer
from agattn.geometry.strata.strata import image_dimension, strata
from agattn.geometry.strata.tangent import tangent_bounds
from agattn.geometry.variety.coordinates import parametrization

FOLDER = Path(__file__).parents[1] / "macaulay_scripts"
PACKAGE, LIBRARY = FOLDER / "LightningAttention.m2", FOLDER / "lightning.lib"

# What each script must print, as patterns; for both engines unless the name has an ending.
EXPECTED = {
    "hypersurface.m2": [r"^true$", r"^\(true, 2, 3\)$", r"^ideal\(X W \+ Y \)"],
    "hypersurface.sing": [r"^1$", r"^4 3$", r"^_\[1\]=x2w\+y2$"],
    "counterexample": [
        r"^dim M\(3,2,2\) = 13 by", r"^At phi.* 14 .*: M is singular there, though rk V = 2\.$",
        r"2,\s?1,\s?3.* 14, singular$", r"2,\s?2,\s?3.* 13, smooth$",
    ],
    "strata": [r"dimension 11.*degree 45", r"1,\s?1,\s?2\D*7\D*15\D*(true|1)\)?$", r"1,\s?3,\s?3\D*11\D*11"],
    "small-layers": [r"2,\s?2,\s?2.*7\D*20\D", r"3,\s?1,\s?1.*7\D*45\D"],
    "small-layers.m2": [r"\(\(2, 3, 1\), 8, 42, \{\(2, 36\), \(3, 4\), \(4, 30\)\}", r"1 15 58 100 80 25 1$"],
    "small-layers.sing": [r"^2,3,1 : 8 42 generators of degree 1 to 4: 0,36,4,30$"],
    "fibers.m2": [
        r"\(\(1, 1, 1\), 1, \{1\}\)", r"\(\(1, 1, 2\), 2, \{1, 1\}\)", r"\(\(1, 2, 2\), 1, \{1\}\)",
    ],
    "fibers.sing": [
        r"^\(1,1,1\), components: 1\n  dimension 1: ",
        r"^\(1,1,2\), components: 2(\n  dimension 1: .*){2}\n\(",
        r"^\(1,2,2\), components: 1\n  dimension 1: ",
    ],
    "one-token.m2": [r"^ideal ?\(\)$", r"\(1, 7, \{0, 0, 0, 35\}\)", r"\(2, 8, \{0, 0, 0, 0\}\)"],
    "one-token.sing": [r"^I\[1\]=0$", r"^1 : 7 : 0,0,0,35$", r"^2 : 8 : 0,0,0,0$"],
    "network.m2": [r"^\{0, 0, 0, 260\}$", r"^\(4, 27\)$", r"^\(110, 80\)$"],
    "network.sing": [r"^260 4 27$", r"^110 80$"],
}  # fmt: skip


def execute(installation, path, *before):
    """The output of a script run in its own folder, which must end well and report no error."""
    command = [installation.path, *installation.engine.arguments, *before, path]
    ended = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert not [line for line in ended.stdout.splitlines() if line.startswith("   ? ")], ended.stdout
    return ended.stdout


def script(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def scripts():
    return sorted(path for path in FOLDER.glob("[a-z]*") if path.suffix in (".m2", ".sing"))


def test_every_file_is_named_in_the_readme_and_every_script_is_tested():
    text = (FOLDER / "README.md").read_text()
    files = {path.name for path in FOLDER.iterdir() if path.is_file()} - {"README.md"}
    for name in files:
        stem, ending = name.split(".")
        assert f"`{name}`" in text or f"`{stem}.m2`, `.{ending}`" in text, name
    covered = {path.name for path in scripts() if {path.name, path.stem} & EXPECTED.keys()}
    assert covered == {path.name for path in scripts()} == files - {PACKAGE.name, LIBRARY.name}


def check_script(installation, path):
    printed = execute(installation, path)
    for pattern in EXPECTED.get(path.stem, []) + EXPECTED.get(path.name, []):
        assert re.search(pattern, printed, re.MULTILINE), (pattern, printed)


def named(path):
    return path.name


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in scripts() if path.suffix == ".m2"], ids=named)
def test_macaulay2_scripts_print_what_is_known(macaulay2, path):
    check_script(macaulay2, path)


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in scripts() if path.suffix == ".sing"], ids=named)
def test_singular_scripts_print_what_is_known(singular, path):
    check_script(singular, path)


@pytest.mark.slow
def test_the_package_is_installed_and_its_tests_pass(macaulay2, tmp_path):
    text = f"""
path = prepend("{FOLDER}/", path)
-- For the list on the first page Macaulay2 would look where each method of each package was written
found = f -> if instance(value f, Function) then toList methods value f else {{}}
methods Package := pkg -> flatten apply(pkg#"exported symbols", found)
installPackage("LightningAttention", InstallPrefix => "{tmp_path}/", MakeInfo => false, UserMode => true)
check "LightningAttention"
print "all passed"
"""
    printed = execute(macaulay2, script(tmp_path, "check.m2", text))
    assert printed.endswith("all passed\n")


@pytest.mark.slow
def test_help_describes_every_argument_and_names_the_version(macaulay2, tmp_path):
    text = """
needsPackage "LightningAttention"
print help "LightningAttention"
scan(LightningAttention#"exported symbols", s -> print help toString s)
"""
    printed = execute(macaulay2, script(tmp_path, "help.m2", text))
    assert f"version {__version__} of LightningAttention" in printed
    assert printed.count("Usage:") == 17 and printed.count("Inputs:") == 17
    assert re.findall(r"^ +\* .*,\s*$", printed, re.MULTILINE) == []  # an argument and its type, and nothing
    assert "\\url{}" not in printed and not re.search(r"available at\s*\|?$", printed, re.MULTILINE)
    assert f'version="version lightning.lib {__version__} ' in LIBRARY.read_text()


def test_every_procedure_of_the_library_has_an_example_that_runs(singular, tmp_path):
    text = LIBRARY.read_text()
    public = re.findall(r"^proc (\w+)", text, re.MULTILINE)
    assert re.findall(r"^ (\w+)\(", text, re.MULTILINE) == public  # the table of contents
    lines = [f'LIB "{LIBRARY}";', *(f"example {name}; kill_all();" for name in public), "quit;"]
    clear = "proc kill_all() { }"
    printed = execute(singular, script(tmp_path, "examples.sing", "\n".join([lines[0], clear, *lines[1:]])))
    numbers = "5,22,21,10,34,28", "20 45 2376", "5 4", "260 4 27", "0,0,0", "\n5 0 0 10 15\n", "\n0 0\n"
    for expected in numbers:
        assert expected in printed


def test_the_library_refuses_what_is_no_stratum_and_names_what_finishes(singular, tmp_path):
    words = {
        "isSingularStratum(3,2,2,intvec(5,5,5));": r"expected one of strata\(3,2,2\), not \(5,5,5\)",
        "isSingularStratum(3,2,2,intvec(2,3,3));": r"expected one of strata\(3,2,2\), not \(2,3,3\)",
        "stratumDimension(3,2,intvec(3,1,3));": r"expected one of strata\(3,2,3\), not \(3,1,3\)",
        "def S = singularLocusOf(4,1,3);": r"M\(4,1,2\), and the elimination neuroIdeal\(4,1,2\) may",
    }
    for call, message in words.items():
        path = script(tmp_path, "refused.sing", f'LIB "{LIBRARY}";\n{call}\nquit;\n')
        command = [singular.path, *singular.engine.arguments, path]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert re.search(rf"^   \? .*{message}", ended.stdout, re.MULTILINE), ended.stdout


def test_the_library_finds_loci_and_ideals_without_elimination_of_all_coordinates(singular, tmp_path):
    """Dimension, degree, and the generators of degree 2, 3, 4; the degrees are those of Segre products."""
    expected = {
        "neuroIdeal(2,3,1)": "8 42 36,4,30",
        "rankOneLocus(2,3)": "6 30 63,0,0",
        "rankOneLocus(3,2)": "8 315 288,40,0",
        "singularLocusOf(3,1,1)": "5 24 81,0,0",
        "singularLocusOf(3,1,2)": "7 45 45,10,0",
        "singularLocusOf(3,2,2)": "10 756 198,40,225",
    }
    text = f"""LIB "{LIBRARY}";
proc describe(ideal I)
{{
  int i; intvec degrees = 0:4; ideal G = std(I);
  for (i=1; i<=size(I); i++) {{ degrees[deg(I[i])] = degrees[deg(I[i])] + 1; }}
  dim(G), mult(G), intvec(degrees[2..4]);
}}
"""
    text += "".join(
        f"ring p = 32003,x,dp; def S = {call}; setring S; describe(I); kill S; kill p;\n" for call in expected
    )
    printed = execute(singular, script(tmp_path, "loci.sing", text + "quit;\n"))
    assert printed.splitlines() == list(expected.values())


# How many independent equations: form minors, products, dependent forms, resultants, flattening minors
FAMILIES = {
    (2, 1, 1): [0, 0, 0, 1, 3],
    (2, 1, 2): [0, 0, 0, 1, 0],
    (2, 2, 1): [5, 0, 0, 10, 15],
    (2, 3, 2): [15, 0, 4, 45, 0],
    (3, 1, 2): [0, 10, 10, 90, 20],
}
COUNTED = {
    "macaulay2": """
needsPackage "LightningAttention"
names = {{"form minors","products","dependent forms","resultants","flattening minors"}}
F = namedEquations({sizes},CoefficientRing => ZZ/32003)
print demark(" ", apply(names, n -> toString numgens trim F#n))
""",
    "singular": """
LIB "lightning.lib";
ring p = 32003,x,dp;
def S = namedEquations({sizes});
setring S;
size(formMinors), size(products), size(dependentForms), size(resultants), size(flatteningMinors);
quit;
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", FAMILIES, ids=lambda sizes: "-".join(map(str, sizes)))
def test_families_of_equations_have_as_many_in_both_engines(engine_installation, tmp_path, sizes):
    name, suffix = engine_installation.engine.name, engine_installation.engine.suffix
    text = COUNTED[name].format(sizes=",".join(map(str, sizes)))
    printed = execute(engine_installation, script(tmp_path, f"families.{suffix}", text))
    assert [int(count) for count in printed.split()] == FAMILIES[sizes]


LAYERS = [SingleLayer(2, 1), SingleLayer(3, 2, 2), SingleLayer(2, 2, t=1)]

# The coordinates of generic weights, then each stratum: its ranks, dimension, number of tangent vectors.
QUESTIONS = {
    "macaulay2": """
needsPackage "LightningAttention"
(d,e,n,t) = ({sizes})
R = QQ[a_(1,1)..a_(d,d),v_(1,1)..v_(e,d)]
A = transpose genericMatrix(R,d,d)
V = transpose genericMatrix(R,R_(d*d),d,e)
scan(flatten entries coefficientVector(A,V,Tokens => t), f -> print toString f)
if t > 1 then for s in strata(d,e,n) do
    print toString(s, stratumDimension(d,e,s), rank tangentVectors(n, representative(d,e,s)))
""",
    "singular": """
LIB "lightning.lib";
int d,e,n,t = {sizes};
ring R = 0,(a(1..d)(1..d),v(1..e)(1..d)),dp;
matrix A[d][d] = a(1..d)(1..d);
matrix V[e][d] = v(1..e)(1..d);
ideal y = coefficientVector(A,V,t);
int i;
for (i=1; i<=size(y); i++) {{ string(y[i]); }}
list L = strata(d,e,n);
list w;
if (t > 1) {{ for (i=1; i<=size(L); i++)
{{
  w = representative(d,e,L[i]);
  L[i], stratumDimension(d,e,L[i]), rank(matrix(tangentVectors(n,w[1],w[2])));
}}}}
quit;
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: f"{layer.d}-{layer.d_out}-{layer.a}-{layer.t}")
def test_coordinates_and_strata_are_those_of_agattn(engine_installation, tmp_path, layer):
    """The map, polynomial by polynomial, and the strata with their tangent vectors."""
    name, suffix = engine_installation.engine.name, engine_installation.engine.suffix
    text = QUESTIONS[name].format(sizes=f"{layer.d},{layer.d_out},{layer.a},{layer.t}")
    printed = execute(engine_installation, script(tmp_path, f"map.{suffix}", text)).splitlines()
    polynomials = parametrization(layer)
    expected = [f.macaulay2() if name == "macaulay2" else f.singular() for f in polynomials]
    found, rows = printed[: len(expected)], printed[len(expected) :]
    assert list(map(monomials, found)) == list(map(monomials, expected))
    known = [
        (s.r_v, s.r_a, s.r, image_dimension(layer, s), tangent_bounds(layer, s).lower)
        for s in (strata(layer) if layer.t > 1 else ())
    ]
    assert [tuple(map(int, re.findall(r"\d+", row))) for row in rows] == known


def monomials(text):
    return sorted(text.replace(" ", "").split("+"))
