"""Which weights have the same function, and which parameters a function determines.

- ``identifiability``: the table parameter → status, at given and at general weights.
- ``network_fibers``: the weights with the function of given ones, of any model.
- ``equivalence``: whether two sets of weights of heads have one function, exact or floating.
- ``weights``: weights of heads, and all that have the function of given ones; ``families``: exact weights of
  any model, and linear spaces of them.
- ``symmetries``: vector fields, finite groups, and the element that connects two weights.
- ``virtual_weights``: deep networks with one head in each layer, lightning and softmax.
"""
