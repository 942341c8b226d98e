"""Commands that find engines, write their scripts and run them."""
