"""Chooses which claims people should label next, and settles disagreements between people and a judge."""

from factloop.core.extras import require

require("evaluation", "working with human labels")
