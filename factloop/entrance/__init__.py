"""What interfaces share: settings from flags, environment and file; where a server listens, and who may use it."""
