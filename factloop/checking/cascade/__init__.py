"""Runs a tuned cascade in a check: a cheap verifier settles the claims it is sure of, the model judges the others."""
