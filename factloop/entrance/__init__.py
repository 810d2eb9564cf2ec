"""Code shared by all interfaces: loading of settings, server addresses, and access control."""
