"""Connects other programs to the checker. The integrations have no logic of their own."""
