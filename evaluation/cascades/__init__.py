"""`factloop research cascade tune` tunes the thresholds of a cascade on labelled claims."""

from factloop.core.extras import require

require("evaluation", "tuning a cascade")
