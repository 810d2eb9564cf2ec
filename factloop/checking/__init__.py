"""Checks a response: `FactChecker` turns it into a factuality report."""
