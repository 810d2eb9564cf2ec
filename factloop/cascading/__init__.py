"""Cascades: thresholds tuned on labelled claims, and the verifier that settles by them in a check."""
