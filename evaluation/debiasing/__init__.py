"""Shares of verdicts corrected for the judge's errors, by claims that people labelled."""

from factloop.core.extras import require

require("evaluation", "correcting scores by labels")
