"""Commands that write documents: figures, reports, schemas."""
