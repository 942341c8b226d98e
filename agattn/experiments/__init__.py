"""What is sampled, trained, or run many times. No exact room imports anything of it."""
