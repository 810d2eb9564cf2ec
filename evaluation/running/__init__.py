"""Runs over a data set, which can be resumed, and which use either this process or Ray."""
