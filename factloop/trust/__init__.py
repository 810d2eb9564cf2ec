"""Provides `TrustScorer`, which calculates the TrustScore of an answer to a question."""
