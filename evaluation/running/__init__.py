"""Runs over a data set, which can be resumed and take place either in this process or on Ray."""
