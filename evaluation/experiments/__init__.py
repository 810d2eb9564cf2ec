"""Compares variants of prompts and settings on the same labelled claims or responses."""

from factloop.core.extras import require

require("evaluation", "an experiment")
