"""Small changes of the code, one at a time, and the tests that see them: ``python -m tests.mutations``."""
