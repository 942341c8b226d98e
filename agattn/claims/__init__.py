"""What the paper says, as objects."""
