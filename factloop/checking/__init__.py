"""Checks responses. `FactChecker` returns a factuality report on a response."""
