"""Commands: tools."""
