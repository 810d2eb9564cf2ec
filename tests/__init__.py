"""The tests. A package of its own, since some distributions install one of the same name."""
