"""Statistics that several features share: correlations, means over clusters and strata, bootstraps."""
