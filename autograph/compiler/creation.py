"""Arrays of numbers that follow a rule, and rearrangements of arrays."""
