"""Kinds of points of a neuromanifold: critical, singular or smooth, each with the reason."""
