"""A root of its own."""
