"""Attention heads of real checkpoints, one by one."""
