"""Dimensions of layers and networks, bounded from both sides."""
