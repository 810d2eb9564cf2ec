"""Tables, YAML, strict JSON, locks, and files that only their owner can read."""
