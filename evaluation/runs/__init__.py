"""A run over a data set: its records, its figures, their calibration by labels."""
