"""Commands: weights in hand."""
