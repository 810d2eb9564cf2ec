"""`factloop research reproduce`: every table and figure of the three papers, theirs beside ours."""

from factloop.core.extras import require

require("evaluation", "a table of the papers")
