"""Runs over a data set, which can be resumed and work either in this process or on Ray."""
