"""Damage, faults, forgeries and hostile files: what becomes of them, in figures."""
