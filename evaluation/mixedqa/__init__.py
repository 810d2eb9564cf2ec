"""`factloop eval mixedqa`: how far TrustScores and other metrics agree with people."""
