"""Examines everything that is configured: what works, in which modes and limits, and how to fix the rest."""
