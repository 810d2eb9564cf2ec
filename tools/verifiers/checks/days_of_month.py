"""Days of one month: *31 December* where the claim says *30 December*, whatever else has a 30."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind

LAST = 31


def other_days_of_month(alignment: Alignment) -> Iterator[Mismatch]:
    """Another day beside the one place where the sentence has the claim's month."""
    claim, sentence = alignment.claim, alignment.sentence
    for month in claim.of_kind(TermKind.MONTH):
        days, partners = _days_beside(claim, month), alignment.partners.get(month, ())
        if len(days) != 1 or len(partners) != 1:
            continue
        others = _days_beside(sentence, partners[0])
        is_range = any(one > 1 and sentence.terms[one - 2].kind is TermKind.NUMBER for one in others)
        if len(others) == 1 and not is_range and sentence.terms[others[0]].key != claim.terms[days[0]].key:
            yield Mismatch("value", (days[0],), (others[0],), excludes=True)


def _days_beside(reading: Reading, month: int) -> list[int]:
    """The places of numbers right before or after a month that may be its days: *31 December*, *December 31*."""
    beside = [one for one in (month - 1, month + 1) if 0 <= one < len(reading.terms)]
    return [one for one in beside if reading.terms[one].kind is TermKind.NUMBER and _is_day(reading.terms[one].key)]


def _is_day(key: str) -> bool:
    digits = key.removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
    return digits.isdigit() and 1 <= int(digits) <= LAST
