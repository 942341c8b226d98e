"""Estimators of learning coefficients, and weights with known ones to try them on."""
