"""What a check or a score is set up from: settings and their sources, limits, caches, calls, recordings."""
