"""Labelled data sets: where they are published, and loaders that turn them into records."""
