"""Checking: `FactChecker` turns one response into one factuality report."""
