"""Where a server listens, and who may use it: loopback, or behind a key."""
