"""Grids of architectures × questions: read, done here or by Dask, kept, and told; the audit and the atlas."""
