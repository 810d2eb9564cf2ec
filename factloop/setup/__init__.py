"""Sets up checks and scores: their settings, sources, limits, caches, calls and recordings."""
