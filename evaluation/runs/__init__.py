"""Runs over a data set: their records, figures, and calibration with human labels."""

from factloop.core.extras import require

require("evaluation", "a run over a data set")
