"""Runs experiments with prompts and settings, which compare variants on the same labelled claims or responses."""

from factloop.core.extras import require

require("evaluation", "an experiment")
