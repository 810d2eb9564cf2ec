"""A run over a data set: its records, its figures, and their calibration with labels."""

from factloop.core.extras import require

require("evaluation", "a run over a data set")
