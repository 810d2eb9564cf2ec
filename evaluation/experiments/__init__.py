"""Experiments on prompts and settings: variants over the same labelled claims or responses, compared in pairs."""

from factloop.core.extras import require

require("evaluation", "an experiment")
