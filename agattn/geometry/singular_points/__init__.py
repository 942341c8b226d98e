"""Kinds of points of a neuromanifold: critical, singular or smooth, each with the reason.

- ``singularities``: the question, and what is known at each kind of points;
- ``kinds``: special weights of any architecture, and weights with the same function;
- ``arguments``: the cascade, for all architectures, and what is special to some;
- ``tangents``: tangent vectors of the closure at one function; of wide networks the theorems, and exact ranks
  to hold against them.
"""
