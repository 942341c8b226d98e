"""From a function or its coefficients back to weights."""
