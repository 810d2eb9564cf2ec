"""Minimal pairs: evidence with a claim that it bears out, and a twin that differs in one thing and is not borne out."""
