"""Tunes the thresholds of a cascade on labelled claims (`factloop research cascade tune`)."""

from factloop.core.extras import require

require("evaluation", "tuning a cascade")
