"""Sets up a check or a score: settings and their sources, limits, caches, calls and recordings."""
