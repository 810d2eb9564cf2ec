"""Tests every configured part, and says how to fix the parts that do not work."""
