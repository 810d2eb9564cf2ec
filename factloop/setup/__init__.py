"""The set-up of a check or a score: settings and their sources, limits, caches, calls, recordings."""
