"""`factloop research cascade tune`: thresholds of a cascade, tuned on labelled claims."""

from factloop.core.extras import require

require("evaluation", "tuning a cascade")
