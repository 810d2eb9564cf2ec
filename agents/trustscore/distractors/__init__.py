"""Distractors: wrong answers that stand beside the response in a question."""

from factloop.core.extras import require

require("trust", "TrustScore")
