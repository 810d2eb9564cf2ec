"""The warnings by which a report on an answer with documents of its own names its mode."""

from __future__ import annotations

FAITHFULNESS = "Faithfulness: judged only against what was given with the answer; nothing else was searched."
FACTUALITY = "Factuality: judged against what was given with the answer and what the checker itself searches."
