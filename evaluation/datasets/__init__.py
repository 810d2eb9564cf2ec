"""Lists labelled data sets, and loads them as records."""
