"""Experiments with prompts and settings: pairwise comparisons of variants on the same labelled claims or responses."""

from factloop.core.extras import require

require("evaluation", "an experiment")
