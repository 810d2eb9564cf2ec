"""Handles people's labels: which claims to label next, and who is right where people and a judge disagree."""

from factloop.core.extras import require

require("evaluation", "work with people's labels")
