"""Gradient flow, gradient descent and Langevin dynamics in the weights, and what they say of the geometry."""
