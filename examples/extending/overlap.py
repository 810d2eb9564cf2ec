"""A claim is as well supported as its words stand in the document. The file has words that do not count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair


class Overlap(Judge):
    """Judges by the share of a claim's words, other than the ignored ones, that the document has."""

    def __init__(self, path: str, *, allow_download: bool = False) -> None:  # noqa: ARG002 - nothing to download
        try:
            self._ignored = _words(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"overlap: {path} cannot be read ({error.strerror})") from error

    @property
    def name(self) -> str:
        return "overlap"

    @property
    def identity(self) -> dict[str, object]:
        return {"verifier": self.name, "ignored": sorted(self._ignored)}

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - free
        return [PairScore(self._share(pair)) for pair in pairs]

    def _share(self, pair: VerifierPair) -> float:
        claim = _words(pair.claim) - self._ignored
        return len(claim & _words(pair.document)) / len(claim) if claim else 0.0


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
