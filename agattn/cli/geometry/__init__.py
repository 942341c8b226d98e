"""Commands about one architecture, or about given weights, heads and matrices."""
