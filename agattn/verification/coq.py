"""The certificate of a layer for Coq: its integers, and theorems about them that ``coqc`` proves again.

A file needs Coq's standard library alone. ``facts.v``, which lies beside this module, says what φ, a rank
from below and a vanishing equation are, and what is stated of an orbit. Then come the integers, and a theorem
for each orbit, for the dimension, and for each claim that follows from them. The theorems of algebra that
lead from there to a verdict stand in ``agattn.checker``; they are not formalized.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from textwrap import fill
from typing import Any

import flint

from agattn import checker
from agattn.algebra.echelon import independent_columns, independent_vectors
from agattn.checker import Orbit, Sparse
from agattn.errors import InputError

HEAD = """\
(* A certificate of {about}, for Coq 8.16 or newer: coqc checks it, but nothing that stands in comments.

   Proved in Coq, about the integers in this file, at one pair (A, V) of each orbit:
   - y = φ(A, V); the ranks of V, of A and of both; and that no triple of ranks is missing;
   - another preimage; that the derivative of φ has a kernel of dimension one, or kills another direction;
   - how arcs φ(K(ε)ᵀQ(ε), V(ε)) that start at y expand, and that their coefficients span so many dimensions;
   - that equations vanish on φ(KᵀQ, V) for all K, Q, V, and that their gradients at y are independent;
   - that on the open orbit the derivative of φ(KᵀQ, V) has at least the rank stated as the dimension.

   Not proved in Coq, but on paper, beside the lines of agattn/checker.py that use it, is what "source" and
   the definitions after it take from there: a group acts on the pairs with these orbits; no preimage is
   missing, by unique factorization; a finite map is a local isomorphism at a single reduced preimage;
   coefficients of arcs are tangent vectors, and gradients bound tangent spaces; the dimension is at most the
   number of parameters, less one for the scaling.

   Claims of the certificate that are not in this file: {others}. *)

From Coq Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.
Open Scope bool_scope.

(* d, d' and a of the layer. *)
Definition d := {d}.
Definition o := {d_out}.
Definition a := {a}.

"""

CHECK = "[discriminate | computed | computed]"

ORBIT = """
Definition orbit_{name} := {{|
{fields} |}}.

Theorem facts_{name} : facts orbit_{name}.
Proof.
  constructor.
  - computed.
  - {V}.
  - {A}.
  - {both}.
  - split; [computed | discriminate].
  - {fiber}.
  - {kernel}.
  - each_computed.
  - {tangents}.
  - each_computed.
  - {gradients}.
Qed.
"""


def as_coq(document: Mapping[str, Any]) -> str:
    """The certificate of a layer as a file for ``coqc``.

    Args:
        document: as :func:`agattn.certificate` makes it.

    Raises:
        InputError: if it is about something else than the orbits of one layer.

    See Also:
        :func:`agattn.certificate`; ``agattn certificate -O FILE.v`` in a shell.

    >>> import agattn as ag
    >>> text = as_coq(ag.certificate(ag.SingleLayer(2, 1), "corollary-A.1"))
    >>> print(text[text.index("Theorem corollary_A_1") :].partition("Proof")[0])
    Theorem corollary_A_1 : closed orbits = Some [].
    """
    if "strata" not in document:
        raise InputError("Coq checks what is claimed of the strata of one layer; for this write FILE.json")
    facts_v = (files("agattn.verification") / "facts.v").read_text(encoding="utf-8")
    facts = checker.Facts(document)
    names = ["_".join(map(str, ranks)) for ranks in facts.orbits]
    theorems, others = _of_the_whole(facts, names), list[str]()
    for record in document["claims"]:
        name = record["id"]
        predicate = checker.CLAIMS[name].fails.__name__ if "verdict" in record else ""
        if predicate and f"Definition {predicate} " in facts_v:
            theorem = f"{predicate} orbits = Some {_coq(record['fails_at'])}"
            theorems[re.sub(r"\W", "_", name)] = theorem, "computed"
        elif name not in ("corollary-3.3", "lemma-3.1") or "verdict" not in record:
            others.append(name)
    parts = [HEAD.format(**{**document, "about": facts}, others=", ".join(others) or "none"), facts_v]
    parts += [_orbit(*pair) for pair in zip(names, facts.orbits.values(), strict=True)]
    parts += [f"\nDefinition orbits := [{'; '.join(f'orbit_{name}' for name in names)}].\n"]
    parts += [f"\nTheorem {name} : {what}.\nProof. {how}. Qed.\n" for name, (what, how) in theorems.items()]
    parts += ["\n(* No theorem rests on an axiom: after each name stands that it is closed. *)\n"]
    parts += [f"Print Assumptions {name}.\n" for name in theorems]
    lines = "".join(parts).splitlines()
    return "".join(fill(line, 110, subsequent_indent="    ", break_on_hyphens=False) + "\n" for line in lines)


def _coq(value: Any) -> str:
    """Numbers, tuples, lists, and vectors in Coq's notation."""
    if isinstance(value, dict):
        return _coq([([*name], x) for name, x in sorted(value.items())])
    if isinstance(value, list):
        return f"[{'; '.join(map(_coq, value))}]"
    return f"({', '.join(map(_coq, value))})" if isinstance(value, tuple) else str(value)


def _of_the_whole(facts: checker.Facts, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """What is stated of all orbits, and of the open one: theorems, and how each is proved."""
    A, V, layer, top = facts.top.A, facts.top.V, facts.layer, f"orbit_{names[-1]}"
    moves = facts.moves()
    velocities = [checker.phi(E, V) for E in moves]
    velocities += [checker.phi(A, {(c, i, 0): 1}) for c, i in layer.places(layer.o)]
    each = f"{''.join(f'(Forall_cons _ facts_{name} ' for name in names)}(Forall_nil _){')' * len(names)}"
    dimension = f"dimension = {facts.dimension} /\\ spans (velocities {top}) dimension"
    return {
        "all_orbits": ("map ranks orbits = all_ranks", "computed"),
        "all_facts": ("Forall facts orbits", f"exact {each}"),
        "corollary_3_3": (dimension, f"split; [computed | {_spans(velocities)}]"),
        "lemma_3_1": (f"spans (map entries (moves (A {top}))) (a * (2 * d - a))", _spans(moves)),
    }


def _orbit(name: str, orbit: Orbit) -> str:
    """The integers of an orbit, and what is proved of them."""
    record, layer, A, V = orbit.record, orbit.layer, orbit.A, orbit.V
    second, direction = ([*map(_matrix, record.get(key, []))] for key in ("second", "critical"))
    arcs = [[_matrix(arc[part]) for part in ("K", "Q", "V", "y")] for arc in record.get("arcs", [])]
    equations = [{(*map(tuple, names),): x for x, *names in terms} for terms in record.get("equations", [])]
    integers = {
        "ranks": _coq([*orbit.ranks]),
        "A": _coq(_entries(A)),
        "V": _coq(_entries(V)),
        "y": _coq(orbit.y),
        "second": f"Some {_coq((*map(_entries, second),))}" if second else "None",
        "direction": f"Some {_coq((*map(_entries, direction),))}" if direction else "None",
        "tangent": str(record.get("tangent", 0)),
        "arcs": _coq([(*map(_entries, matrices), moving) for *matrices, moving in arcs]),
        "equations": _coq([[(x, [*map(list, names)]) for names, x in e.items()] for e in equations]),
    }
    V_c, A_b = checker.lines(V, 0), checker.lines(A, 1)
    if direction:
        kernel = f"split; [computed | split; [{_spans([A, direction[0]])} | discriminate]]"
    else:
        units = [checker.differential(A, V, {(k, b, 0): 1}, {}) for k, b in layer.places(layer.d)]
        units += [checker.differential(A, V, {}, {(c, i, 0): 1}) for c, i in layer.places(layer.o)]
        kernel = _spans(units)
    return ORBIT.format(
        name=name,
        fields=";\n".join(f"  {key} := {value}" for key, value in integers.items()),
        V=_rank(V_c),
        A=_rank(A_b),
        both=_rank(V_c + A_b),
        fiber=f"split; [computed | {_spans([A, second[0]])}]" if second else "exact I",
        kernel=kernel,
        tangents=_spans([vector for *_, moving in arcs for vector in _leading(moving)]),
        gradients=_spans([checker.gradient(e, orbit.y) for e in equations]),
    )


def _matrix(entries: Iterable[list[int]]) -> Sparse:
    """Entries with a power of ε before each value, or of a matrix without ε."""
    return {(*at, 0) if len(at) == 2 else (*at,): x for *at, x in entries}


def _entries(matrix: Sparse) -> list[tuple[int, ...]]:
    """The entries of a matrix."""
    return [(*at, x) for at, x in sorted(matrix.items())]


def _leading(moving: Sparse) -> list[Sparse]:
    """The coefficients v_m, ..., v_{2m−1} of an arc, also those that are 0."""
    vectors = checker.grouped(moving, 0)
    first = min(vectors)
    return [vectors.get(power, {}) for power in range(first, 2 * first)]


def _spans(vectors: Sequence[Sparse]) -> str:
    """The proof of how many dimensions some vectors span."""
    numbers = [*independent_vectors(vectors)]
    scale, functionals = _dual([vectors[n] for n in numbers])
    return f"apply (spans_by {scale} {_coq(numbers)}%nat {_coq(functionals)}); {CHECK}"


def _rank(vectors: Sequence[Sparse]) -> str:
    """The same, where vectors that are different are independent; of equal ones the last counts."""
    last = {(*sorted(vector.items()),): vector for vector in reversed(vectors)}
    scale, functionals = _dual([*reversed(last.values())])
    return f"apply (rank_by {scale} {_coq(functionals)}); {CHECK}"


def _dual(vectors: Sequence[Sparse]) -> tuple[int, list[Sparse]]:
    """A number D, and for each of some independent vectors a functional, D at it and 0 at the others."""
    names = sorted({name for vector in vectors for name in vector})
    rows = [[vector.get(name, 0) for name in names] for vector in vectors]
    chosen = independent_columns(rows) if rows else []
    minor = flint.fmpq_mat([[row[n] for n in chosen] for row in rows])
    numerators, scale = minor.inv().numer_denom()
    columns = numerators.transpose().tolist()
    return int(scale), [{names[n]: int(x) for n, x in zip(chosen, w, strict=True) if x} for w in columns]
