"""Commands: experiments."""
