"""Commands: engines."""
