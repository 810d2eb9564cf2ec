"""Scores the results of `FactChecker` against labels, and audits evaluators. Only interfaces import this package."""
