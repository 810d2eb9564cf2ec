"""Runs experiments: several ways of checking over one set of claims or responses, with shared evidence."""
