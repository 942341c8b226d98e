"""Every point of the neuromanifold: the orbits, and the properties of the points of each orbit."""
