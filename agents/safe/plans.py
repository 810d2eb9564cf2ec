"""The shared parts of plans that read sentence by sentence and judge claim by claim."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.agents.safe.state import BunchState, FactState, SentenceState


class OneByOne:
    """Reads each sentence by itself, and looks at no claim together with others."""

    @property
    def merges_repeats(self) -> bool:
        return True

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        return [[sentence] for sentence in sentences]

    @property
    def searches_ahead(self) -> bool:
        return False

    @property
    def second_look(self) -> None:
        return None

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState | BunchState]:
        return cases
