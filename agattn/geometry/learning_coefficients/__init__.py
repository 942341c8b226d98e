"""Learning coefficients: λ and m exactly where known, else between two bounds."""
