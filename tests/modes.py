from __future__ import annotations

FAITHFULNESS = "Faithfulness: judged only against what was given with the answer; nothing else was searched."
FACTUALITY = "Factuality: judged against what was given with the answer and what the checker itself searches."
