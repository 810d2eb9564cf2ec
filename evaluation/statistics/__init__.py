"""Statistics that several features share: correlations, means over clusters and strata, bootstraps."""

from factloop.core.extras import require

require("evaluation", "statistics")
