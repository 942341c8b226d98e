"""Claims put to the test: who answers which question, verdicts, certificates."""
