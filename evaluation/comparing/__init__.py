from factloop.core.extras import require

require("evaluation", "a comparison")
