"""Code shared by all interfaces: settings, server addresses, and access control."""
