"""Scores answers: `TrustScorer` turns an answer to a question into its TrustScore."""
