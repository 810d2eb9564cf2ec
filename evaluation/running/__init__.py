"""Resumable runs over a data set, in this process or on Ray."""
