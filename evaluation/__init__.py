"""Evaluation: scores results against labels and audits the evaluators. Uses `FactChecker`; only doors import it."""
