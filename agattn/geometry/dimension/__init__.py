"""The dimension of a neuromanifold, with a proof from both sides where these meet.

- ``dimension``: the answer, by provers of bounds from cheap to dear, also by a model inside.
- ``jacobian``: derivatives by all parameters, whose rank is a bound from below.
- ``theorems``: dimensions that a theorem proves; both bounds of what is cut between its layers.
- ``formulas``: bounds from above, by counting and by the spaces that functions lie in.
- ``symmetries``: the known groups, their tangent vectors and orbits.
- ``lie_algebra``: all linear symmetries, each proved by symbols.
- ``contact``: how fast singular values of a Jacobian fall where all scores vanish.
"""
