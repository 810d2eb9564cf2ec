"""Connects the checker to other programs. The integrations contain no logic of their own."""
