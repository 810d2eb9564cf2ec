"""Reads tables row by row, and writes strict JSON, whole files at once, and files that only their owner can read."""
