"""Generates distractors: the wrong answers shown along with the response."""

from factloop.core.extras import require

require("trust", "TrustScore")
