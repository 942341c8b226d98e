"""Documents and figures made from computed results."""
