"""Commands: check the theorems."""
