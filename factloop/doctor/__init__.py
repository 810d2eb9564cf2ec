"""Tests every configured part, and says how to fix those that do not work."""
