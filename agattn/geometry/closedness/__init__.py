"""Whether a neuromanifold is closed, and which limits of diverging weights no weights reach."""
