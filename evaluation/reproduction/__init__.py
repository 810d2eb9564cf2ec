"""`factloop research reproduce` compares the tables and figures of the three papers with our own."""

from factloop.core.extras import require

require("evaluation", "reproducing tables of the papers")
