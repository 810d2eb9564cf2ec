"""Runs a cascade as part of a check. A cheap verifier settles the clear claims, and the model judges the rest."""
