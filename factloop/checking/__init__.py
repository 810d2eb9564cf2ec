"""Checks responses and returns a factuality report for each. The main class is `FactChecker`."""
