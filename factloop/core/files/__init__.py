"""Reads and writes files: table rows, strict JSON, atomically written files, and files readable only by their owner."""
