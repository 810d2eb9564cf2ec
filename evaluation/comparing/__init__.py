"""`factloop research compare` compares two finished runs, or two systems in one run."""

from factloop.core.extras import require

require("evaluation", "a comparison")
