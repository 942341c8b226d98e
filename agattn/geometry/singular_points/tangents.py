r"""Tangent vectors of the closure M̄ of a neuromanifold at one function, from all weights known to have it.

Let f = φ(w). The curve φ(w + εv) lies in M, so a polynomial that vanishes on M vanishes on it, and its
differential at f is 0 on dφ(w)v: the Zariski tangent space T_f M̄ contains the image of dφ at *every* preimage
of f. Where dφ(w)v = 0, the curve φ(w + εv + ε²u) = f + ε²(½ d²φ(v, v) + dφ(u)) + … says the same of
d²φ(v, v), and so of d²φ(v, v') for any two vectors of the kernel, modulo the image. If M contains sf with f
for all s > 0, T_0 M̄ contains every f of M.

All vectors are taken at common inputs and cotangents, and their rank modulo a prime is a proved lower bound
of the dimension of T_f M̄.

>>> from agattn.architectures import Network, Perceptron
>>> model = Network([Perceptron([2, 1], degree=3)], dim=3)            # sums of two cubes of linear forms
>>> at = ExactWeights(model, {"W_1_1": [[1, 2, 3], [0, 0, 0]], "W_1_2": [[1, 0]]})
>>> tangents, free = Tangents(model, 6), [tuple(int(i == j) for i in range(8)) for j in (3, 4, 5)]
>>> tangents.rank_at(at), tangents.preimages([at], [(at, free)])[1]   # of 10 cubics, at most 6 where smooth
(3, 10)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

import flint
import numpy as np

from agattn.algebra.arithmetic import ModularArithmetic
from agattn.algebra.residues import Residues, RowSpace, hadamard, matmul, nonzero_minor, random_residues
from agattn.architectures import Architecture, DeepNetwork
from agattn.geometry.dimension.jacobian import jacobian
from agattn.geometry.identifiability.families import ExactWeights, Vector
from agattn.limits import limits

#: Points of the fiber are moved so often at most along directions that change no function.
_MOVES = 12
#: Second derivatives are taken for so many vectors of the kernel at most.
_MOST_SECOND = 12


class Tangents:
    """Tangent vectors of M̄ at one function, as values of cotangents at common inputs, modulo a prime.

    Args:
        architecture: any polynomial one.
        at_most: a proved upper bound of dim M̄.
        varying: the parameters by which φ is differentiated, where these span the images of the differential
            at all weights that are asked about; all by default.
    """

    def __init__(self, architecture: Architecture, at_most: int, varying: Sequence[str] = ()) -> None:
        self.architecture, self.seed = architecture, limits().seed
        generator = np.random.default_rng(self.seed)
        zeros = {name: np.zeros(shape, dtype=int) for name, shape in architecture.shapes.items()}
        self.zero = ExactWeights(architecture, zeros)
        self.p = self.zero.prime(generator)
        rows = 4 * at_most + 20
        self.X = random_residues(generator, (rows, *architecture.input_shape), self.p)
        self.cotangents = random_residues(generator, (rows, 1, *architecture.output_shape), self.p)
        self.arithmetic = ModularArithmetic(self.p)
        numbers = self.zero.arrays(np.arange(architecture.parameters))
        self._columns = np.concatenate([numbers[name].ravel() for name in varying or numbers])
        self._images: dict[Vector, Residues] = {}
        self.at_most = at_most
        #: Of φ in the weights, or more.
        self.degree = architecture.degree or 0
        if isinstance(architecture, DeepNetwork):
            self.degree = 3 * (3**architecture.depth - 1) // 2

    def image(self, at: ExactWeights) -> Residues:
        """Vectors that span the image of the differential, one in each row, without repetition."""
        if at.vector not in self._images:
            arrays = at.arrays(at.residues(self.p)[0])
            J = jacobian(self.architecture, arrays, self.X, self.arithmetic, self.cotangents)
            self._images[at.vector] = np.asarray(J, dtype=np.float64).T[self._columns]
        return self._images[at.vector]

    def forget(self) -> None:
        """Forget the images of the differential that were found, which fill the memory."""
        self._images.clear()

    def rank_at(self, at: ExactWeights) -> int:
        """The rank of the differential: proved from below."""
        return nonzero_minor(self.image(at), self.p).rank

    def values(self, weights: Residues) -> Residues:
        """The functions of some weights, (n, parameters), as rows."""
        rows = []
        for flat in weights:
            out = self.architecture.evaluate(self.arithmetic, self.zero.arrays(flat), self.X)
            terms = self.arithmetic.times(out, self.cotangents[:, 0])
            rows.append(terms.sum(axis=(1, 2)) % self.p)
        return np.array(rows)

    def kernel_found(self, at: ExactWeights, directions: Sequence[Vector]) -> int:
        """The dimension of the part of the kernel that symmetries and directions span: a lower bound."""
        own = np.concatenate([at.tangents(self.p), at.residues(self.p, directions)[1]])
        return nonzero_minor(own, self.p).rank

    def span(self, preimages: Sequence[ExactWeights]) -> int:
        """The dimension of the span of the images of the differential at some preimages.

        Raises:
            AssertionError: if they are not preimages of one function.
        """
        values = self.values(np.array([at.residues(self.p)[0] for at in preimages]))
        assert (values == values[0]).all(), "weights that should have one function have two"
        return nonzero_minor(self._images_at(preimages), self.p).rank

    def spans(self, points: Sequence[ExactWeights]) -> list[int]:
        """For each number n the dimension of the span of the images of dφ at the first n of any weights."""
        space = RowSpace(len(self.X), self.p)
        return [space.add(self.image(at)) for at in points]

    def _images_at(self, preimages: Sequence[ExactWeights]) -> Residues:
        return np.concatenate([self.image(at) for at in preimages])

    def preimages(
        self,
        points: Sequence[ExactWeights],
        moving: Sequence[tuple[ExactWeights, Sequence[Vector]]],
        patience: int = 1,
    ) -> tuple[list[ExactWeights], int]:
        """Weights with the same function, and the dimension of what the images there span together.

        They are moved at random along directions, until ``patience`` moves one after the other add nothing.
        """
        moving = [(point, directions) for point, directions in moving if directions]
        preimages = list({point.vector: point for point in points}.values())
        dimension, idle = self.span(preimages), 0
        for number in range(_MOVES):
            if idle == patience or not moving:
                break
            before = dimension
            preimages += [point.moved(directions, self.seed + number) for point, directions in moving]
            dimension = self.span(preimages)
            idle = idle + 1 if dimension == before else 0
        return preimages, dimension

    def span_of_functions(self, count: int = 0) -> int:
        """The dimension of the span of ``count`` random functions, or of a few more than dim M."""
        generator = np.random.default_rng(self.seed + 1)
        shape = max(count, self.at_most + 4), self.architecture.parameters
        weights = random_residues(generator, shape, self.p)
        return nonzero_minor(self.values(weights), self.p).rank

    def second_order(
        self, at: ExactWeights, preimages: Sequence[ExactWeights], rank_there: int
    ) -> tuple[int, bool]:
        """The dimension of the span at preimages with all d²φ(v, v'), and whether the fiber is the orbit.

        Here v, v' are in the kernel of the differential. The fiber is the orbit, near the point, if modulo
        the image of the differential the d²φ(v, v') of a basis of the kernel modulo the orbit of the
        symmetries are independent: then d²φ(v, v) is in the image for v = 0 alone, and no other curve of
        weights with one function starts here.
        """
        basis = at.kernel([], range(len(at.vector)))
        if len(basis) != len(at.vector) - rank_there:
            return 0, False  # the few inputs that gave the kernel gave too much
        own = at.tangents(self.p)
        vectors = np.concatenate([own, at.residues(self.p, basis)[1]])
        extra = vectors[[row for row in nonzero_minor(vectors, self.p).rows if row >= len(own)]]
        if len(extra) > _MOST_SECOND:
            return 0, False
        pairs = combinations_with_replacement(extra, 2)
        # The part quadratic in the direction u + v; those of the squares come first in what they span.
        quadratic = np.array([self._second(at, u + v) for u, v in pairs])
        image = nonzero_minor(np.concatenate([self.image(at), quadratic]), self.p).rank - rank_there
        vectors_there = np.concatenate([self._images_at(preimages), quadratic])
        return nonzero_minor(vectors_there, self.p).rank, image == len(quadratic)

    def _second(self, at: ExactWeights, v: Residues) -> Residues:
        """The coefficient of s² in φ(w + sv), by interpolation."""
        point = at.residues(self.p)[0]
        scales = np.arange(self.degree + 1, dtype=np.float64)
        values = self.values((point + hadamard(v[None] % self.p, scales[:, None], self.p)) % self.p)
        powers = [pow(int(s), n, self.p) for s in scales for n in range(len(scales))]
        inverse = flint.nmod_mat(len(scales), len(scales), powers, self.p).inv()
        row = np.array([[float(int(inverse[2, n])) for n in range(len(scales))]])
        return np.asarray(matmul(row, values, self.p)[0])
