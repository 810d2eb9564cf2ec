"""Splits a response into sentences, and groups sentences into windows that are read together."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from factloop.agents.safe.answer import Answer
from factloop.agents.safe.state import SentenceTask
from factloop.core.records import GivenFacts, NoClaim
from factloop.tools.text.blocks import is_code_alone
from factloop.tools.text.outline import Part
from factloop.tools.text.silence import silence_of

_PASSED_OVER = re.compile(r"\s+|\[\d{1,4}\]")
"""Matches whitespace and citations, which sentence splitters often drop."""
_CITATIONS = re.compile(r"(?:[ \t]?\[\d{1,4}\])*")


def sentences_of(
    answer: Answer, *, spans: Sequence[tuple[int, int]] | None = None, reads_code: bool = True
) -> list[SentenceTask]:
    """Returns the sentences of the response, or only those at `spans`. `silent` says why a sentence is not read."""
    chosen = answer.parts if spans is None else _at_spans(answer, spans)
    rows = answer.rows_left_out if spans is None else frozenset[int]()
    apart = frozenset[int]() if spans is None else _apart(chosen, answer.parts)
    return [
        _task(
            number,
            part,
            is_apart=number in apart,
            silent=NoClaim.NOT_READ if part.start in rows else _silence(part, reads_code=reads_code),
        )
        for number, part in enumerate(chosen)
    ]


def given_sentences(answer: Answer, given: Sequence[GivenFacts]) -> list[SentenceTask]:
    """Returns the sentences in `given` with their facts, followed by all other sentences, which are not read.

    The span of a sentence includes the citations in it and directly after it. A sentence that is not in the response
    keeps the supplied text and has an empty span at the end of the previous sentence.
    """
    spans = find_sentences(answer.response, [one.sentence for one in given])
    found = [
        SentenceTask(answer.response[start:end] or one.sentence, start, end, number=number, given=one.facts)
        for number, (one, (start, end)) in enumerate(zip(given, spans, strict=True))
    ]
    taken = [span for span in spans if span[0] < span[1]]
    starts = [start for start, _ in taken]
    for part in answer.parts:
        place = bisect_left(starts, part.end) - 1
        if place < 0 or taken[place][1] <= part.start:
            found.append(_task(len(found), part, silent=silence_of(part) or NoClaim.NOT_READ))
    return found


def _task(number: int, part: Part, *, is_apart: bool = False, silent: str | None) -> SentenceTask:
    return SentenceTask(
        part.text, part.start, part.end, part.above, number, part.kind == "code", is_apart=is_apart, silent=silent
    )


def _silence(part: Part, *, reads_code: bool) -> str | None:
    if not reads_code and (part.kind == "code" or is_code_alone(part.text)):
        return NoClaim.CODE
    return silence_of(part)


def _at_spans(answer: Answer, spans: Sequence[tuple[int, int]]) -> list[Part]:
    starts = [part.start for part in answer.parts]
    chosen: list[Part] = []
    for start, end in spans:
        place = max(bisect_right(starts, start) - 1, 0)
        around = answer.parts[place] if answer.parts else Part("", 0, 0, "prose")
        inside = [part for part in answer.parts[place:] if start <= part.start and part.end <= end]
        one = Part(answer.response[start:end], start, end, around.kind, around.above)
        chosen += inside if around.kind == "code" and inside else [one]
    return chosen


def _apart(chosen: Sequence[Part], parts: Sequence[Part]) -> frozenset[int]:
    stating = [part.start for part in parts if silence_of(part) is None]
    pairs = enumerate(pairwise(chosen), 1)
    return frozenset(
        number for number, (one, two) in pairs if bisect_left(stating, one.end) < bisect_left(stating, two.start)
    )


def find_sentences(response: str, sentences: Iterable[str]) -> list[tuple[int, int]]:
    """Returns the span of each sentence in the response, or an empty span if it is not found.

    Each search starts where the previous sentence ends, and takes linear time. Ignores whitespace and citations such as
    `[1]`.
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
        assert cited is not None  # the pattern also matches an empty string
        reached = cited.end()
        spans.append((kept[first], reached))
    return spans


def _kept(text: str) -> list[int]:
    kept: list[int] = []
    start = 0
    for gap in _PASSED_OVER.finditer(text):
        kept += range(start, gap.start())
        start = gap.end()
    return [*kept, *range(start, len(text))]


@dataclass(frozen=True)
class WindowSize:
    """Maximum number of sentences, and of characters, in a window. A longer sentence is read alone."""

    sentences: int
    characters: int


GROUNDED_WINDOW = WindowSize(12, 675)
FUSED_WINDOW = WindowSize(2, 195)
"""Holds slightly more than one long sentence. All claims wait for the longest window, so larger windows are slower."""

Windows = list[list[SentenceTask]]
JoinRule = Callable[[SentenceTask, SentenceTask], bool]


def windows_of(sentences: Sequence[SentenceTask], size: WindowSize, may_join: JoinRule) -> Windows:
    """Groups neighbouring sentences into as few windows as possible, of similar length.

    Reading an answer takes as long as reading its longest window. A sentence with supplied facts gets its own window.
    """
    stretches: Windows = []
    for sentence in sentences:
        before = stretches[-1][-1] if stretches else sentence
        if stretches and before.given is None and sentence.given is None and may_join(before, sentence):
            stretches[-1].append(sentence)
        else:
            stretches.append([sentence])
    return [window for stretch in stretches for window in _of_like_length(stretch, size)]


def goes_on(_before: SentenceTask, sentence: SentenceTask) -> bool:
    return not sentence.is_apart


def shares_headings(before: SentenceTask, sentence: SentenceTask) -> bool:
    """Whether both sentences are text, not code, under the same headings and the same lead-in or table header."""
    return before.above == sentence.above and not before.is_code and not sentence.is_code


def _of_like_length(stretch: Sequence[SentenceTask], size: WindowSize) -> Windows:
    n_windows = len(_filled(stretch, size.sentences, size.characters))
    bounds = range(size.characters + 1)
    lowest = bisect_left(bounds, x=True, key=lambda bound: len(_filled(stretch, size.sentences, bound)) <= n_windows)
    return _filled(stretch, size.sentences, lowest)


def _filled(stretch: Sequence[SentenceTask], most_sentences: int, most_characters: int) -> Windows:
    windows: Windows = []
    for sentence in stretch:
        fits = windows and sentence.end - windows[-1][0].start <= most_characters
        if fits and len(windows[-1]) < most_sentences:
            windows[-1].append(sentence)
        else:
            windows.append([sentence])
    return windows
