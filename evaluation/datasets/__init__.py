"""Labelled data sets: where they are published, and loaders that convert them into records."""
