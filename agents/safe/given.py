"""Facts that the caller split: finds their sentences in the response, and keeps each fact even where a call fails."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from factloop.agents.safe import judgements
from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.state import PlacedFact, SentenceState, place_fact, sentence_state
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import Judgement, NoClaim
from factloop.tools.calls.together import together
from factloop.tools.linguistics.outline import read_outline
from factloop.tools.linguistics.silence import silence_of

GIVEN_AT_ONCE = 12
"""Given facts that one call reads: replies are bounded, and a failed call loses all of its facts."""

BatchReader = Callable[[SentenceState, int, Sequence[str], CheckContext], Awaitable[list[PlacedFact]]]
"""Reads some of a sentence's given facts, the first at the place given."""

_PASSED_OVER = re.compile(r"\s+|\[\d{1,4}\]")
"""White space and citations; splitters often drop both."""
_CITATIONS = re.compile(r"(?:[ \t]?\[\d{1,4}\])*")


def given_sentences(response: str, given: Sequence[dict[str, Any]]) -> list[SentenceState]:
    """A sentence for each of `given` (`factloop.core.records.GivenFacts` as dictionaries), with its facts.

    A sentence that is found is that stretch of the response, with the citations in it and after it. One that is not
    found keeps its text as given and has an empty span at the end of the sentence before.
    """
    spans = find_sentences(response, [one["sentence"] for one in given])
    return [
        SentenceState(
            number=number,
            text=response[start:end] or one["sentence"],
            start=start,
            end=end,
            is_code=False,
            above="",
            given=list(one["facts"]),
            is_apart=False,
            silent=None,
        )
        for number, (one, (start, end)) in enumerate(zip(given, spans, strict=True))
    ]


def left_out(given: Sequence[SentenceState], response: str) -> list[SentenceState]:
    """The given sentences, then the response's sentences outside all of these, which stay unread."""
    taken = [(one["start"], one["end"]) for one in given if one["start"] < one["end"]]
    starts = [start for start, _ in taken]
    rest: list[SentenceState] = []
    for part in read_outline(response):
        place = bisect_left(starts, part.end) - 1
        if place >= 0 and taken[place][1] > part.start:
            continue
        silent = silence_of(part) or NoClaim.NOT_READ
        rest.append(sentence_state(len(given) + len(rest), part, silent=silent))
    return [*given, *rest]


def find_sentences(response: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """The span of each sentence in the response, searched for from the end of the one before.

    Space and citations such as `[1]` do not count. A sentence that is not there has an empty span. Linear in the
    response for each sentence.
    """
    kept = _kept(response)
    bare = "".join(response[place] for place in kept)
    spans: list[tuple[int, int]] = []
    reached = 0
    for sentence in sentences:
        wanted = _PASSED_OVER.sub("", sentence)
        first = bare.find(wanted, bisect_left(kept, reached)) if wanted else -1
        if first < 0:
            spans.append((reached, reached))
            continue
        cited = _CITATIONS.match(response, kept[first + len(wanted) - 1] + 1)
        assert cited is not None  # the pattern also matches the empty text
        reached = cited.end()
        spans.append((kept[first], reached))
    return spans


def _kept(text: str) -> list[int]:
    """Places of the characters that are compared."""
    kept: list[int] = []
    start = 0
    for gap in _PASSED_OVER.finditer(text):
        kept += range(start, gap.start())
        start = gap.end()
    return [*kept, *range(start, len(text))]


async def read_in_batches(read: BatchReader, sentence: SentenceState, context: CheckContext) -> list[PlacedFact]:
    """The sentence's given facts, read in batches; if one cannot be read, each of its facts is returned unscored."""

    async def batch(start: int) -> list[PlacedFact]:
        facts = given[start : start + GIVEN_AT_ONCE]
        try:
            return await read(sentence, start, facts, context)
        except ConfigError:
            raise
        except FactloopError as error:
            return unread(sentence, judgements.unscored(error), enumerate(facts, start))

    given = sentence["given"] or []
    parts = await together(batch(start) for start in range(0, len(given), GIVEN_AT_ONCE))
    return [fact for part in parts for fact in part]


def unread(sentence: SentenceState, judgement: Judgement, facts: Iterable[tuple[int, str]]) -> list[PlacedFact]:
    """Unscored facts, by their number in the sentence."""
    return [place_fact(sentence, number, text, judgement=judgement) for number, text in facts]
