"""What the plans have in common that read sentence by sentence and judge claim by claim."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.state import Found, SentenceState, Settled


class OneByOne:
    """Reads each sentence by itself, and looks at no claim together with others."""

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        return [[sentence] for sentence in sentences]

    def batches(self, facts: Sequence[Found]) -> Sequence[Sequence[Found]]:  # noqa: ARG002 - none of them
        return []

    async def look_again(
        self,
        facts: Sequence[Found],  # noqa: ARG002 - never called
        sentences: Sequence[SentenceState],  # noqa: ARG002 - never called
        context: CheckContext,  # noqa: ARG002 - never called
    ) -> list[Settled]:
        raise AssertionError("there is no batch to look at again")
