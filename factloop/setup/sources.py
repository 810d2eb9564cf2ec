"""Sources that come with a single answer rather than from the checker's settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.tools.search.base import SearchTool

SourceMode = Literal["faithfulness", "factuality"]
"""`faithfulness` checks only against the supplied sources. `factuality` also searches the checker's own tools."""


@dataclass(frozen=True)
class Sources:
    """The sources of one answer. Without tools, `faithfulness` leaves all claims unscored (`no_source`)."""

    tools: tuple[SearchTool, ...] = ()
    mode: SourceMode = "faithfulness"
    registered_as: str | None = None
    """The name by which the caller selected these sources. None if they were supplied with the answer."""

    @property
    def warning(self) -> str:
        """Tells the report's readers what was searched."""
        name = self.registered_as
        against = "what was given with the answer" if name is None else f"the documents registered as “{name}”"
        if self.mode == "faithfulness":
            return f"Faithfulness: judged only against {against}; nothing else was searched."
        return f"Factuality: judged against {against} and what the checker itself searches."

    def searched(self, own: Sequence[SearchTool]) -> tuple[SearchTool, ...]:
        """The tools to search, supplied ones first. `own` are the checker's tools."""
        return self.tools if self.mode == "faithfulness" else (*self.tools, *own)
