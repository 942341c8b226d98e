"""From a coefficient tensor or a function back to the weights of a layer.

- ``membership``: is it in the neuromanifold, and with which weights; from a tensor, a function or a table.
- ``separating_equations``: an equation that fails where it is not.
- ``nearest_point``: floating point, the action of large tensors, one token.
"""
