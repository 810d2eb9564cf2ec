"""Calculates the TrustScore of an answer to a question. Start with `TrustScorer` in `scorer`."""
