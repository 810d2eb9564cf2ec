"""Runs over a data set: records, figures, and their calibration with human labels."""

from factloop.core.extras import require

require("evaluation", "a run over a data set")
