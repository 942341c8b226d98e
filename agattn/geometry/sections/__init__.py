"""Three-dimensional sections of the neuromanifold, and its real points."""
