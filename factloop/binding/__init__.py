"""The binding of a server: the address it listens at, and its callers: loopback, or behind a key."""
