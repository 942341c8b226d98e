"""Commands that ask about many architectures, points or runs."""
