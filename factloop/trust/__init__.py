"""TrustScore: `TrustScorer` turns an answer to a question into its score."""
