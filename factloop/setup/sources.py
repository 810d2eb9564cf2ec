"""The sources of one answer, where they are given with it rather than by the checker's settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.tools.search.base import SearchTool

SourceMode = Literal["faithfulness", "factuality"]
"""`faithfulness`: against what is given, and nothing else. `factuality`: the checker's own tools are searched too."""


@dataclass(frozen=True)
class Sources:
    """Sources of one answer. If it is faithful and without tools, nothing can be judged: all is `no_source`."""

    tools: tuple[SearchTool, ...] = ()
    mode: SourceMode = "faithfulness"
    registered_as: str | None = None
    """The name by which the caller chose them, where they were not given with the answer."""

    @property
    def warning(self) -> str:
        """A warning for readers of the report."""
        name = self.registered_as
        against = "what was given with the answer" if name is None else f"the documents registered as “{name}”"
        if self.mode == "faithfulness":
            return f"Faithfulness: judged against {against} alone; nothing else was searched."
        return f"Factuality: judged against {against} and what the checker itself searches."

    def searched(self, own: Sequence[SearchTool]) -> tuple[SearchTool, ...]:
        """All tools searched by a checker with these tools of its own: what was given comes first."""
        return self.tools if self.mode == "faithfulness" else (*self.tools, *own)
