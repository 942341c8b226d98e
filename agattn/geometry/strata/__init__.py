"""Every point of the neuromanifold: the orbits, and the properties of the points of each orbit.

- ``strata``: the orbits, and how far functions are from their closures.
- ``critical``: which points are critical, and which on the boundary.
- ``tangent``: tangent spaces from both sides, and what M̄ looks like near a point.
- ``closures``: equations and degrees of the closures.
"""
