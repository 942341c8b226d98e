"""Commands: study a layer or model."""
