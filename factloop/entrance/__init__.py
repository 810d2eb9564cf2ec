"""Code shared by all interfaces: settings from flags, environment and file; server addresses and access."""
