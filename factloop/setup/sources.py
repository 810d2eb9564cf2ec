"""The sources of one answer, where they are given with it rather than by the checker's settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.tools.search.base import SearchTool

SourceMode = Literal["faithfulness", "factuality"]
"""`faithfulness`: against what is given, and nothing else. `factuality`: the checker's own tools are searched too."""

FAITHFULNESS = "Faithfulness: judged against what was given with the answer alone; nothing else was searched."
FACTUALITY = "Factuality: judged against what was given with the answer and what the checker itself searches."


@dataclass(frozen=True)
class Sources:
    """Sources given with one answer. If it is faithful and without tools, nothing can be judged: all is `no_source`."""

    tools: tuple[SearchTool, ...] = ()
    mode: SourceMode = "faithfulness"

    @property
    def warning(self) -> str:
        """A warning for readers of the report."""
        return FAITHFULNESS if self.mode == "faithfulness" else FACTUALITY

    def searched(self, own: Sequence[SearchTool]) -> tuple[SearchTool, ...]:
        """All tools searched by a checker with these tools of its own: what was given comes first."""
        return self.tools if self.mode == "faithfulness" else (*self.tools, *own)
