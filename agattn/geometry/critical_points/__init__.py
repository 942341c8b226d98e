"""The squared loss on a neuromanifold, and its critical points: how many, and all real ones, each proved.

- ``loss``: the loss of data, of a metric, of a target, as a quadratic function of the coordinates;
- ``charts``: strata in coordinates without redundancy, and the equations of critical points there;
- ``elimination``: one parameter left, d = 2 and d' = 1: all points, proved; the same on the surface of
  Figure 1;
- ``real_points``: what is known of real points, with what indices add up to, and near given weights;
- ``counts``: numbers, also by theorems.
"""
