"""`factloop research reproduce` reproduces every table and figure of the three papers next to the published ones."""

from factloop.core.extras import require

require("evaluation", "a table of the papers")
