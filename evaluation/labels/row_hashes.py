"""The hash in each row of a sheet, by which an edited cell shows: a label belongs to the claim that was drawn, with the
verdict and the probability that it was drawn with.

It leaves out what the person fills in, and sentence and passages, which a spreadsheet may cut off.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from math import ceil, floor

from factloop.reports.downloads import without_apostrophe
from factloop.reports.labels import ClaimToLabel

STEPS = 10**6
"""Steps from 0 to 1 of scores and probabilities: a spreadsheet keeps nine decimals of what it saves, or fewer digits
than it was given."""


def hash_of_row(claim: ClaimToLabel) -> str:
    """A hash of the claim as it was drawn. It begins with a letter, so that no spreadsheet takes it for a number."""
    return _hash(claim, _nearest(claim.score), _nearest(claim.probability))


def is_as_drawn(claim: ClaimToLabel, row_hash: str) -> bool:
    """Whether the claim of a row has what the hash is of; its numbers may differ by less than a step."""
    return any(
        row_hash == _hash(claim, score, probability)
        for score in _neighbours(claim.score)
        for probability in _neighbours(claim.probability)
    )


def _hash(claim: ClaimToLabel, score: int | None, probability: int | None) -> str:
    fields = claim.model_dump(mode="json", exclude={"document"}) | {"score": score, "probability": probability}
    plain = {name: _plain(value) for name, value in fields.items()}
    return f"r-{hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:12]}"


def _plain(value: object) -> object:
    """A text as any program writes it back: with single spaces, and without the apostrophe before a formula."""
    return " ".join(without_apostrophe(value).split()) if isinstance(value, str) else value


def _nearest(number: float | None) -> int | None:
    return None if number is None else round(number * STEPS)


def _neighbours(number: float | None) -> Iterator[int | None]:
    """The steps around a number: one of them is nearest to the number that it was rounded from."""
    if number is None:
        yield None
        return
    yield from {floor(number * STEPS), ceil(number * STEPS)}
