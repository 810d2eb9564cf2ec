"""Doors from other people's programs to the checker. None has logic of its own."""
