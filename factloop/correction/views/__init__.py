"""Corrections, on the terminal and as a page."""
