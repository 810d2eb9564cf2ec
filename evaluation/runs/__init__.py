"""Scores a data set of responses, and corrects the scores with human labels."""

from factloop.core.extras import require

require("evaluation", "a run over a data set")
