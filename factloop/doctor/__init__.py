"""Examines everything that is configured: what works, in which modes, with which limits, and how to fix the rest."""
