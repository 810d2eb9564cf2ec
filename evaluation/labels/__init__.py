"""Works with human labels: which claims to label next, and who is right when people and a judge disagree."""

from factloop.core.extras import require

require("evaluation", "working with human labels")
