"""Commands that put claims to the test, and check certificates."""
