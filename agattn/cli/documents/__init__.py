"""Commands: documents."""
