"""Runs over a data set: resumable, in this process or on Ray."""
