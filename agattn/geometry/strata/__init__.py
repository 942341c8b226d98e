"""Every point of the neuromanifold: the orbits, and what holds along each."""
