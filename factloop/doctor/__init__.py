"""A look at all that is configured: what works, in which way, within which limits, and what to do about the rest."""
