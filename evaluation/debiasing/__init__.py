"""Shares of verdicts corrected for the judge's errors, by claims that people labelled."""
