"""The homogeneous ideal of the neuromanifold, degree by degree."""
