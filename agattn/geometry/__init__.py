"""The neuromanifold computed natively, without an engine."""
