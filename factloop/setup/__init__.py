"""Sets up a check or a score with its settings, sources, limits, caches, calls and recordings."""
