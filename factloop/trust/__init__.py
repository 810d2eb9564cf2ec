"""Scores answers: `TrustScorer` calculates the TrustScore of an answer to a question."""
