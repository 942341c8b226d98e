"""The neuromanifold as a variety: its coordinates, what it is made of, its degree."""
