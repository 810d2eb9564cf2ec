"""The sources of one answer, where they are given with it rather than by the checker's settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.tools.search.base import SearchTool

SourceMode = Literal["faithfulness", "factuality"]
"""`faithfulness`: against what is given, and nothing else. `factuality`: the checker's own tools are searched too."""


def _warning(mode: SourceMode, against: str) -> str:
    if mode == "faithfulness":
        return f"Faithfulness: judged against {against} alone; nothing else was searched."
    return f"Factuality: judged against {against} and what the checker itself searches."


_GIVEN = "what was given with the answer"
FAITHFULNESS = _warning("faithfulness", _GIVEN)
FACTUALITY = _warning("factuality", _GIVEN)


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
        return _warning(self.mode, _GIVEN if name is None else f"the documents registered as “{name}”")

    def searched(self, own: Sequence[SearchTool]) -> tuple[SearchTool, ...]:
        """All tools searched by a checker with these tools of its own: what was given comes first."""
        return self.tools if self.mode == "faithfulness" else (*self.tools, *own)
