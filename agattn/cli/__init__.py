"""The command line: makes commands from verbs, reads files and words, prints; no mathematics."""
