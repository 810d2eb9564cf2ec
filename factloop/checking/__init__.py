"""Checks responses and reports which of their claims are supported. Start with `FactChecker` in `checker`."""
