"""Generates distractors: the wrong answers shown along with the response in a question."""

from factloop.core.extras import require

require("trust", "TrustScore")
