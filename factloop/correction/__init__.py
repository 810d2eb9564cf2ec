"""Rewrites a response so that unsupported content is removed or corrected, and checks it again."""
