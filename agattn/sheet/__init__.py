"""Tables and formulas as data, what draws them, and results that describe themselves."""
