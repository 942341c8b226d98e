"""What singular learning theory sees: learning coefficients."""
