"""Measures how well TrustScore and other metrics agree with human labels (`factloop eval mixedqa`)."""
