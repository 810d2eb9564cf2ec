"""Correction: a response rewritten so that what is not supported is removed or mended, and checked again."""
