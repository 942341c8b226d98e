"""The squared loss on a neuromanifold, and its critical points."""
