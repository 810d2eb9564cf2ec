"""Tests every part that is configured, and says how to fix any that do not work."""
