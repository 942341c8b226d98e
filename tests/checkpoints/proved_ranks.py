"""Ranks of the Jacobians of small models, proved: in balls, and modulo a prime without softmax and norms.

``python -m tests.checkpoints.redundancy proved`` prints the table. The rank at one point is at most that at
general points, and that is at most the parameters less the dimension of an orbit. So where both are equal, no
other direction is redundant in the model.

In balls the weights are the float64 numbers of :func:`redundancy.general`, which are exact, the angles and
all that follows are balls. Without softmax, norms and roots a model is a polynomial over ℚ, whose rank modulo
a prime is at most that over ℚ. Its group is another one (``polynomial_group.py``). The tangents are computed
modulo the same prime: their rank is at most the dimension of an orbit.
"""

import flint
import numpy as np

from agattn.algebra.rank import RandomRows, rank
from agattn.algebra.residues import random_prime
from agattn.checkpoints.whole_model import whole_model
from tests.checkpoints import redundancy
from tests.checkpoints.derivatives import Tape
from tests.checkpoints.polynomial_group import tangents

#: Tokens of a sequence, and bits of balls.
LENGTH, BITS = 5, 128
#: Cosines and sines of the pairs of rows from one position to the next, of infinite order.
TURNS = [(3, 4, 5), (5, 12, 13), (8, 15, 17)]


def rows(m, w, random, count, combinations, scalar, **how):
    """Derivatives by all entries of some random combinations of the outputs of each of many sequences."""
    made, names = [], list(w)
    while len(made) < count:
        tape = Tape()
        weights = {name: tape.numbers(w[name]) for name in names}
        parameters = len(tape.steps)
        tokens = random.integers(0, m.vocabulary, (1, LENGTH))
        types = random.integers(0, max(m.types, 1), (1, LENGTH))
        outputs = redundancy.evaluate(m, weights, tokens, types, **how)
        cotangents = scalar(random.integers(-9, 10, (combinations, outputs.size)))
        made += list(tape.pulled_back(outputs, cotangents, parameters))
    return made


def in_balls(m, seed=0):
    """Parameters, the dimension of orbits as the program has it, and the proved lower bound of the rank."""
    result, unused = whole_model(m), m.model.plus * m.dim
    w = redundancy.general(m, np.random.default_rng(seed))
    pairs = m.kinds[0].rotary_pairs
    ball = np.frompyfunc(lambda x: flint.arb(float(x)), 1, 1)

    def jacobian(count, random):
        with flint.ctx.workprec(BITS):
            angles = ball(redundancy.angles(LENGTH, pairs))
            weights = {part: ball(array) for part, array in w.items()}
            J = rows(m, weights, random, count, 10, ball, turns=(np.cos(angles), np.sin(angles)))
        J = np.array(J)
        # Columns of zeros are no noise to be scaled up.
        floats = np.frompyfunc(lambda x: 0.0 if x.contains(0) else float(x.mid()), 1, 1)(J)
        return floats.astype(float), J.__getitem__

    drawn = RandomRows("the Jacobian", result.upper_bound, "the dimension of an orbit", real=jacobian)
    return result.total - unused, result.total - result.upper_bound - unused, rank(drawn).lower_bound


def without_softmax_and_norms(m):
    """Parameters, the rank of the tangents of the polynomial's group, and the rank modulo a prime."""
    random = np.random.default_rng(0)
    p = random_prime(random)
    residue = np.frompyfunc(lambda x: flint.nmod(int(x), p), 1, 1)
    w = {part: residue(random.integers(0, p, shape)) for part, shape in redundancy.shapes(m).items()}
    total = sum(array.size for array in w.values())
    pairs = m.kinds[0].rotary_pairs
    cos, sin = residue(np.ones((2, LENGTH, pairs), int))
    sin[0] *= 0
    for j in range(1, LENGTH):
        for f, (a, b, c) in enumerate(TURNS[:pairs]):
            x, y = cos[j - 1, f] / c, sin[j - 1, f] / c
            cos[j, f], sin[j, f] = x * a - y * b, x * b + y * a
    readers, zeros = dict(redundancy.read_by(m)), {part: 0 * w[part] for part in w}
    T = np.array([redundancy.flat(zeros | moved, w) for moved in tangents(m, w, readers)])
    T = flint.nmod_mat(residue(T).tolist(), p)
    count = total - T.rank() + 8
    J = rows(m, w, random, count, 4 * m.dim, residue, turns=(cos, sin), polynomial=True)
    J = flint.nmod_mat([list(row) for row in J], p)
    assert (J * T.transpose()).rank() == 0, "a tangent moves an output"
    return total, T.rank(), J.rank()


def compared(bound, proved):
    """Whether the numbers are equal, or by how much not."""
    return "equal" if bound == proved else f"{bound - proved} less"


def row(name):
    """A row of the table."""
    m = redundancy.stored(name)
    total, orbit, proved = in_balls(m, redundancy.SEEDS.get(name, 0))
    cells = [name, total, orbit, total - orbit, proved, compared(total - orbit, proved)]
    if m.activation == "clamped":
        cells += ["–"] * 4
    else:
        _, orbit, modulo = without_softmax_and_norms(m)
        cells += [orbit, total - orbit, modulo, compared(total - orbit, modulo)]
    return f"| {' | '.join(map(str, cells))} |"


def table(names):
    """The table of the page of proofs, line by line."""
    polynomial = "orbit of the polynomial | rank, at most | at least, modulo a prime | |"
    yield f"| model | parameters | orbit | rank, at most | at least, in balls | | {polynomial}"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    yield from map(row, names)
