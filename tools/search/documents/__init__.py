"""Searches the user's own files: loads them, splits them into passages, and indexes the passages on disk."""
