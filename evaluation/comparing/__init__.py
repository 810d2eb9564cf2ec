"""`factloop research compare`: two finished runs, or two systems of one run, side by side."""

from factloop.core.extras import require

require("evaluation", "a comparison")
