"""Runs a tuned cascade in a check: a cheap verifier settles clear claims, and the model judges the rest."""
