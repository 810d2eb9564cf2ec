"""Statistics shared by several features: correlations, means over clusters and strata, and bootstraps."""

from factloop.core.extras import require

require("evaluation", "statistics")
