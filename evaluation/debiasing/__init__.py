"""Uses human labels to correct the fraction of supported verdicts for the judge's errors."""

from factloop.core.extras import require

require("evaluation", "correcting scores by labels")
