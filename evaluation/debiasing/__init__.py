"""Corrects the fraction of supported verdicts for the judge's errors, using human labels."""

from factloop.core.extras import require

require("evaluation", "correcting scores by labels")
