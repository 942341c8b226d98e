"""The engines, each declared in one file of its name."""
