"""`factloop research audit` measures how far evaluators can be trusted (Godbole & Jia, "Verify with Caution")."""

from factloop.core.extras import require

require("evaluation", "an audit")
