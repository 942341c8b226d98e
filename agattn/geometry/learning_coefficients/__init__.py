"""Learning coefficients: λ and m exactly where known, else between two bounds.

- ``learning_coefficients``: of one layer, by the ranks of its weights, and at given ones, exact or floating;
- ``normal_form``: a proof of λ and m, one point at a time;
- ``brackets``: bounds for any architecture; ``newton``: ideals of germs by exponents.
"""
