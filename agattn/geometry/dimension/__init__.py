"""The dimension of a neuromanifold, with a proof from both sides where these meet.

- ``dimension``: the answer, by provers of bounds from cheap to dear.
- ``jacobian``: derivatives by all parameters, whose rank is a bound from below.
- ``theorems``: dimensions that a theorem proves; ``stacks``: both bounds of what is cut between its layers.
- ``smaller``: a model inside of one that is too large.
- ``formulas``: bounds from above, by counting and by the spaces that functions lie in.
- ``symmetries``: the known groups, their tangent vectors and orbits.
- ``lie_algebra``, ``first_order``: all linear symmetries, each proved by symbols.
- ``contact``: how fast singular values of a Jacobian fall where all scores vanish.
"""
