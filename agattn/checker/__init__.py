"""The checker of certificates: it needs Python alone."""
