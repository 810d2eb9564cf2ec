"""`factloop eval mixedqa` measures how far TrustScore and other metrics agree with human labels."""
