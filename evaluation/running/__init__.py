"""Runs over a data set that can be resumed, in this process or on Ray."""
