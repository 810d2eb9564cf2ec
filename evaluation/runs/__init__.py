"""What a run over a data set leaves behind: its records, its figures, their calibration by labels."""
