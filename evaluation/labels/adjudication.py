"""Calculates how often an adjudicator found the judge or people right, and compares their costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict

from factloop.core.errors import DataError
from factloop.core.figure import Figure, Undefined, ends
from factloop.core.files.rows import Row
from factloop.core.files.tables import read_rows
from factloop.core.records import Count, NonNegative, Record, Share
from factloop.evaluation.labels.disagreements import DisagreementKey
from factloop.reports.labels import Answer, AnswerFile, is_of_page, read_saved

LEVEL = 0.95
PAPER_WINS, PAPER_N = 76, 100
"""Wei et al. 2024 (section 4, abstract) had 100 disputed facts judged again, and SAFE was right on 76 of them."""
PEOPLE_USD = 4.0
"""The cost of having people label one response. The paper takes this figure from Min et al. 2023."""


def _answer(value: object) -> object:
    return value.strip().lower() or None if isinstance(value, str) else value


class AnsweredRow(Record):
    model_config = ConfigDict(extra="ignore")

    item: Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
    answer: Annotated[Answer | None, BeforeValidator(_answer)] = None


class WinRate(Figure):
    """A proportion with an exact interval (Clopper and Pearson 1934) that treats claims as independent."""


class Adjudication(Record):
    """How often each side was right, and how often neither was, when the verdict and the human label differed."""

    schema_version: Literal["1.0"] = "1.0"
    data: str
    n_labelled: Count
    n_differing: Count
    n_drawn: Count
    n_answered: Count
    judge_right: Count
    people_right: Count
    neither_right: Count
    judge: WinRate
    """Fraction of the answered claims on which the judge was right, which is the paper's measure."""
    people: WinRate
    neither: WinRate
    judge_of_decided: WinRate
    """The same fraction, without the claims on which neither side was right."""
    paper: WinRate
    level: Share
    judge_usd: NonNegative | None
    """Cost per response. None if the model's price is unknown."""
    people_usd: NonNegative
    """Cost per response. This is an assumption, not a measurement."""
    times_cheaper: NonNegative | None
    """`people_usd` divided by `judge_usd`. None if the judge's cost is zero or unknown."""


def read_answers(place: str | Path, key: DisagreementKey) -> Mapping[str, Answer | None]:
    """Reads the answer to each item in the key, or None, from a sheet or a file saved by the page. Raises DataError if
    an answer is invalid, if a sheet has an unknown, repeated or missing item, or if the page belongs to another key."""
    return _of_page(place, key) if is_of_page(place) else _of_sheet(read_rows(place), key)


def adjudicate(
    given: Mapping[str, Answer | None], key: DisagreementKey, *, people_usd: float = PEOPLE_USD, level: float = LEVEL
) -> Adjudication:
    """Calculates win rates from the answers. Unanswered items are ignored."""
    by_item = {one.item: one for one in key.disputed}
    wins = Counter(
        "neither" if answer is Answer.NEITHER else "judge" if (answer is Answer.FIRST) is by_item[item].judge_is_first
        else "people"
        for item, answer in given.items()
        if answer is not None
    )  # fmt: skip
    n = wins.total()
    judge_usd = None if key.cost_usd is None else key.cost_usd / key.n_responses
    return Adjudication(
        data=key.data,
        n_labelled=key.n_labelled,
        n_differing=key.n_differing,
        n_drawn=len(key.disputed),
        n_answered=n,
        judge_right=wins["judge"],
        people_right=wins["people"],
        neither_right=wins["neither"],
        judge=win_rate(wins["judge"], n, level),
        people=win_rate(wins["people"], n, level),
        neither=win_rate(wins["neither"], n, level),
        judge_of_decided=win_rate(wins["judge"], wins["judge"] + wins["people"], level),
        paper=win_rate(PAPER_WINS, PAPER_N, level),
        level=level,
        judge_usd=judge_usd,
        people_usd=people_usd,
        times_cheaper=people_usd / judge_usd if judge_usd else None,
    )


def win_rate(wins: int, n: int, level: float = LEVEL) -> WinRate:
    """The rate is undefined if there are no answers."""
    if not n:
        return WinRate(value=None, undefined=Undefined.NOTHING_SCORED, n=0)
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # its stubs are not a dependency

    found = binomtest(wins, n).proportion_ci(level, method="exact")
    return WinRate(value=wins / n, **ends((float(found.low), float(found.high))), n=n)


def _of_page(place: str | Path, key: DisagreementKey) -> Mapping[str, Answer | None]:
    file = read_saved(place, AnswerFile)
    if file.claims_hash != key.claims_hash:
        raise DataError("the answers and the key must belong to the same page", path=str(place), field="claims_hash")
    given = {one.key: one.answer for one in file.answers}
    return {one.item: given.get((one.response_id, one.claim_id)) for one in key.disputed}


def _of_sheet(rows: Iterable[Row], key: DisagreementKey) -> Mapping[str, Answer | None]:
    known, given = {one.item for one in key.disputed}, dict[str, Answer | None]()
    path = ""
    for row in rows:
        path = row.path
        read = row.read_as(AnsweredRow)
        if read.item not in known:
            raise row.error("the key does not contain this item; use the key that belongs to this sheet", "item")
        if read.item in given:
            raise row.error("this item appears twice; keep only one of the rows", "item")
        given[read.item] = read.answer
    missing = [one.item for one in key.disputed if one.item not in given]
    if missing:
        raise DataError(f"item {missing[0]} is missing; restore its row (leave `answer` empty to skip it)", path=path)
    return given
