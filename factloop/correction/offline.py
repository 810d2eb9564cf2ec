"""New wordings without a model: one number replaced by the evidence's, or only what holds said again.

A baseline: it costs nothing, mends no more than a number, and what it says again has lost its markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from factloop.core.errors import ToolError
from factloop.correction.drafts import Wording
from factloop.correction.faults import Fault
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.verifiers.base import Verifier

_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d(?!\w)|(?<![\w.,])\d(?!\w)")
_STOPS = ".!?…。！？｡؟।"


class OfflineRewriter:
    """Words sentences anew by rules; `verifier` has the last word on a replaced number."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    @property
    def name(self) -> str:
        return "offline rewriter"

    @property
    def hashes(self) -> Mapping[str, str]:
        return {}

    async def reword(self, fault: Fault) -> Wording:
        mended = self._with_other_number(fault)
        if mended is not None:
            return Wording(mended, tuple(item.id for item in fault.cited), self.name)
        if fault.staying and "|" in fault.text:
            raise ToolError("no rule words a row of a table anew", tool=self.name)
        text = restated(fault)
        return Wording(text, by=self.name) if text else Wording("")

    def _with_other_number(self, fault: Fault) -> str | None:
        """The sentence with the one number that its one wrong claim has otherwise than the evidence.

        None unless the evidence offers exactly one such number that the verifier then supports the claim with.
        """
        if len(fault.contradicted) != 1 or fault.removed:
            return None
        claim = plain_text(fault.contradicted[0].claim.self_contained)
        found = {
            (wrong, right)
            for passage in _said(fault)
            for wrong, right in _differences(claim, passage)
            if _count(wrong, fault.text) == _count(wrong, claim) == 1
            and self._verifier.verify(_replaced(claim, wrong, right), [passage]).label == "supported"
        }
        if len(found) != 1:
            return None
        ((wrong, right),) = found
        return _replaced(fault.text, wrong, right)


def restated(fault: Fault) -> str:
    """The facts to keep, each in a sentence as it was split; empty without any."""
    stop = fault.text[-1] if fault.text[-1:] in _STOPS else "."
    texts = [plain_text(claim.text).strip() for claim in fault.staying]
    return " ".join(_as_sentence(text, stop) for text in dict.fromkeys(texts) if text)


def _as_sentence(text: str, stop: str) -> str:
    return text[0].upper() + text[1:] + ("" if text[-1] in _STOPS else stop)


def _said(fault: Fault) -> Iterator[str]:
    """The sentences of the passages that contradict."""
    for item in fault.cited:
        for sentence in split_sentences(item.passage):
            yield sentence.text


def _differences(claim: str, passage: str) -> Iterator[tuple[str, str]]:
    """Pairs of the only number of the claim that the passage lacks, and one of its form that the claim lacks."""
    said, stated = _NUMBER.findall(claim), _NUMBER.findall(passage)
    missing = [number for number in said if number not in stated]
    if len(missing) == 1:
        yield from (
            (missing[0], number) for number in stated if number not in said and _form(number) == _form(missing[0])
        )


def _form(number: str) -> str:
    """Years are replaced by years, 12.5 by no whole number."""
    return "year" if re.fullmatch(r"1\d{3}|20\d{2}", number) else re.sub(r"\d+", "0", number)


def _count(number: str, text: str) -> int:
    return _NUMBER.findall(text).count(number)


def _replaced(text: str, wrong: str, right: str) -> str:
    return _NUMBER.sub(lambda found: right if found[0] == wrong else found[0], text)
