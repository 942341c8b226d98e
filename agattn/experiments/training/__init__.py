"""Where training ends: gradient flow, gradient descent and Langevin dynamics in the weights.

"Singularities often attract the learning dynamics" (HMK, Section 3.2). Runs are followed from many seeds.
Of each its end is found, the ranks there, and how well it kept what the flow conserves.

- ``experiment``: what is trained, on what, how, and from which seeds; a file that a person writes.
- ``teachers``: the functions that are learned, and the losses that measure the distance to them.
- ``conserved``: the quadratic forms that gradient flow conserves, and a bound on how many there are.
- ``training``: the paths, what is measured along them, and jobs of a study made of them.
"""
