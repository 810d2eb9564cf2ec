from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.judges.base import Label, SupportReading


class ScriptedVerifier:
    name = "scripted"

    def __init__(self, label: Label, cited: tuple[int, ...] = (), *, abstains: bool = False) -> None:
        self.abstains = abstains
        self._answer = SupportReading(label, 0.75, cited, "names agree")
        self.asked: list[tuple[str, list[str]]] = []

    def verify(
        self,
        claim: str,
        passages: Sequence[str],
        documents: Sequence[int] | None = None,  # noqa: ARG002 - answers alike, whatever they are of
    ) -> SupportReading:
        self.asked.append((claim, list(passages)))
        return self._answer
