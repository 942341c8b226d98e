"""Polynomial problems, engine-neutral: ring, map, ideal, and what is asked."""
