"""Whether a neuromanifold is closed, and which limits of diverging weights no weights reach.

- ``question``: of any architecture, in a word and in a sentence; images that are proved to be closed; the
  theorem about several layers, with limits outside;
- ``several_heads``: the theorems about one layer, with limits outside.
"""
