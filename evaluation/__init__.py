"""Scores results against labels and audits evaluators, using `FactChecker`. Only interfaces import this package."""
