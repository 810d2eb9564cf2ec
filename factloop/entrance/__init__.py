"""What all interfaces share: settings, server addresses and access control."""
