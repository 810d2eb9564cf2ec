"""Statistics shared by several features, such as correlations, means over clusters and strata, and bootstraps."""

from factloop.core.extras import require

require("evaluation", "statistics")
