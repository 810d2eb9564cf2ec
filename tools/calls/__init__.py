"""Handles every paid or fallible call: limits, retries, caching, deduplication, budgets and accounting."""
