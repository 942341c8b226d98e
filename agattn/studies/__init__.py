"""Studies of many layers at once: the heads of real models."""
