"""Scores results against labels and audits evaluators with `FactChecker`. Only interfaces import this package."""
