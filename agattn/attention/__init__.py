"""The maps: what a layer computes, and the coefficients that describe it."""
