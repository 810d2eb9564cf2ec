"""Selects the passages that the grounded plan shows: all of them if the documents are short, otherwise the best ones.

Passages include neighbouring text, so those of one document often overlap. Overlapping text is shown only once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate, product
from typing import NamedTuple

from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.stages import CheckContext
from factloop.agents.safe.state import SentenceTask
from factloop.agents.shown import PASSAGE_CHARACTERS, document_of
from factloop.core.errors import BudgetExceeded, ConfigError, DeadlineExceeded, FactloopError
from factloop.core.records import Evidence, Judgement, over_pages
from factloop.tools.calls.together import together
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchAnswer, SearchGateway
from factloop.tools.text.queries import search_query, topic_of
from factloop.tools.text.words import content_words

STAGE = "search"
SHOWN_CHARACTERS = 6_000
"""Intended total length, in characters, of the passages shown with a window, unless all are shown."""
WHOLE_TIMES = 1.5
"""If the documents are at most this many times as long as the limit, all are shown: a second call would cost more."""
MOST_PASSAGES, MOST_TIMES = 12, 2.5
"""Up to `MOST_PASSAGES` passages may exceed the intended length, by a factor of up to `MOST_TIMES`."""
_WORD = re.compile(r"\w+")
_PRONOUNS = r"(?:he|she|it|they|his|her|hers|its|their|theirs|him|them)"
_OPENERS = "in|on|at|by|from|for|to|of|with|under|over|after|before|during|since|until|as|if|when|while|though|although"
_WORD_FORM = r"[\w'’-]+"
_REFERS = re.compile(
    rf"\W*(?:(?:later|then|there|also)\b(?: {_WORD_FORM}){{0,3}} "
    rf"|(?:later|then|there|also|{_OPENERS})\b(?:[^,;]{{0,200}},|(?: {_WORD_FORM}){{1,3}}(?<! of)(?<! in)(?<! at)) )?"
    rf"(?:{_PRONOUNS}\b|(?:the|this|that|these|those|both|such) (?-i:[a-z\d])|(?:this|that|these|those)\b)",
    re.IGNORECASE,
)
"""Matches a sentence whose subject is named elsewhere, optionally after an opener such as *In 1850,*.

A word directly after a preposition is not the subject: *Over the years, Ada ...*, *In her youth Ada ...*
"""
_LOOK_BACK = 1_000
"""Maximum distance in characters between the start of the previous sentence and the start of this one."""
_LEAST_SHARED = 40
"""Minimum number of characters in an overlap between two passages. A shorter one may be a coincidence."""


class Passages(NamedTuple):
    items: Sequence[Evidence]
    failure: Judgement | None = None
    """The failure of one tool to answer a query that another tool answered. Searching again may find more."""
    is_all: bool = False
    """Whether `items` contains all passages of the documents."""


async def passages_for(
    tasks: Sequence[SentenceTask], context: CheckContext, *, results: int, characters: int = SHOWN_CHARACTERS
) -> Passages:
    """Finds the passages for judging a window of sentences.

    Raises ToolError if no tool answers a query, or the gateway's BudgetExceeded, DeadlineExceeded or ConfigError.
    """
    hits = _all_hits(context.searching.tools, characters)
    if hits is None:
        queries = [_query(task, context) for task in tasks]
        return await _searched(queries, context, results=results, characters=characters)
    now = datetime.now(UTC)
    return Passages(numbered(_evidence(hit, "", rank, now) for rank, hit in enumerate(hits, 1)), is_all=True)


async def passages_of_claims(
    claims: Sequence[str], context: CheckContext, *, results: int, characters: int = SHOWN_CHARACTERS
) -> Passages:
    """Searches for each claim and returns passages for judging all of them. Raises the errors of `passages_for`."""
    topic = topic_of(context.answer.prompt)
    queries = [search_query(claim, topic) for claim in claims]
    return await _searched(queries, context, results=results, characters=characters)


async def may_bring_more(
    claim: str, shown: Sequence[Evidence], context: CheckContext, *, results: int, other_side: bool = False
) -> bool:
    """Whether the first `2 * results` hits of a search for a claim may include a passage that was not shown.

    With `other_side`, meant for supported claims, a passage counts only if it contains at least half of the claim's
    words but not all of them, because it may then give another value.

    No search is made if a tool needs a server. In that case, and if a search fails, the result is True, so that the
    second examination searches again, or False with `other_side`. Raises ConfigError.
    """
    if not all(tool.is_local for tool in context.searching.tools):
        return not other_side
    try:
        query = search_query(claim, topic_of(context.answer.prompt))
        answers = await _asked_of_all(query, context.searching.deeper(2 * results), context)
    except ConfigError:
        raise
    except FactloopError:
        return not other_side
    if any(isinstance(one, FactloopError) for one in answers):
        return not other_side
    hits = [hit for one in answers if isinstance(one, SearchAnswer) for hit in one.hits[: 2 * results]]
    return any(
        (not other_side or _differs_in_part(claim, f"{hit.title} {hit.passage}"))
        and fresh_part(hit.passage, [item.passage for item in shown if item.source == hit.source])
        for hit in hits
    )


def _differs_in_part(claim: str, passage: str) -> bool:
    words = set(content_words(claim))
    n_lacking = len(words.difference(content_words(passage)))
    return 0 < 2 * n_lacking <= len(words)


def is_all_found(tools: Sequence[SearchTool], found: Iterable[Evidence]) -> bool:
    """Whether the evidence already contains everything that these tools can find."""
    hits = _all_hits(tools, SHOWN_CHARACTERS)
    if hits is None:
        return False
    texts: defaultdict[str, str] = defaultdict(str)
    for item in found:
        texts[item.source] += f"{item.passage}\n"
    return all(hit.passage in texts[hit.source] for hit in hits)


def _all_hits(tools: Sequence[SearchTool], characters: int) -> list[SearchHit] | None:
    most, hits = round(WHOLE_TIMES * characters), list[SearchHit]()
    for tool in tools:
        passages = tool.all_passages(most)
        if passages is None:
            return None
        hits += passages
    if sum(len(hit.passage) + len(hit.title) + len(hit.section or "") for hit in hits) > most:
        return None
    return hits


async def _searched(queries: Sequence[str], context: CheckContext, *, results: int, characters: int) -> Passages:
    """If only local documents are searched, which costs nothing, passages are added until they reach `characters`."""
    is_free = all(tool.is_local for tool in context.searching.tools)
    searching = context.searching.deeper(MOST_PASSAGES) if is_free else context.searching
    asked = await together(_asked_of_all(query, searching, context) for query in dict.fromkeys(queries))
    answers = [answer for of_query in asked for answer in of_query]
    found = [answer for answer in answers if isinstance(answer, SearchAnswer)]
    failure = next((unscored(answer) for answer in answers if isinstance(answer, FactloopError)), None)
    kept: dict[str, Evidence] = {}
    for rank, answer in product(range(1, MOST_PASSAGES + 1), found):
        if rank > results and sum(len(item.passage) for item in kept.values()) >= characters:
            break
        for hit in answer.hits[rank - 1 : rank]:
            wording = " ".join(_WORD.findall(hit.passage.casefold()))
            kept.setdefault(wording, _evidence(hit, answer.query, rank, answer.retrieved_at))
    shown = without_repeats(kept.values(), most=PASSAGE_CHARACTERS)
    return Passages(numbered(_first(shown, characters)), failure)


async def _asked_of_all(
    query: str, searching: SearchGateway, context: CheckContext
) -> Sequence[SearchAnswer | FactloopError]:
    async def ask(tool: SearchTool) -> SearchAnswer | FactloopError:
        try:
            return await searching.search(tool, query, stage=STAGE, meter=context.meter)
        except (ConfigError, BudgetExceeded, DeadlineExceeded):
            raise
        except FactloopError as error:
            return error

    answers = await together(ask(tool) for tool in searching.tools)
    failures = [answer for answer in answers if isinstance(answer, FactloopError)]
    if failures and len(failures) == len(answers):
        raise failures[0]
    return answers


def _first(passages: Sequence[Evidence], characters: int) -> Sequence[Evidence]:
    lengths = [*accumulate(len(item.passage) for item in passages)]
    n_fit = sum(length <= characters for length in lengths)
    n_long = sum(length <= MOST_TIMES * characters for length in lengths[:MOST_PASSAGES])
    return passages[: max(1, n_fit, n_long)]


def _query(task: SentenceTask, context: CheckContext) -> str:
    """Includes the previous sentence if this one begins with words such as *she* or *the firm*."""
    under = task.above.splitlines()[-1] if task.above and task.start else ""
    before = ""
    if refers_back(task.sentence):
        near = context.answer.prose_before(task.start)[-1:]
        before = next((part.text for part in near if part.start >= task.start - _LOOK_BACK), "")
    return search_query(f"{under} {before} {task.sentence}", topic_of(context.answer.prompt))


def refers_back(text: str) -> bool:
    """Whether the subject of a sentence is named in an earlier sentence: *She ...*, *In 1850, the firm ...*"""
    return _REFERS.match(text) is not None


def _evidence(hit: SearchHit, query: str, rank: int, retrieved_at: datetime) -> Evidence:
    return Evidence(**dict(hit), id="", query=query, rank=rank, retrieved_at=retrieved_at)


def numbered(passages: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Numbers the passages: `p1`, `p2` and so on."""
    return tuple(item.model_copy(update={"id": f"p{number}"}) for number, item in enumerate(passages, 1))


def without_repeats(passages: Iterable[Evidence], *, most: int) -> list[Evidence]:
    """Joins overlapping passages of a document into passages of up to `most` characters. Keeps the order.

    If the joined passage would be longer, the later one loses the text that the earlier one contains.
    """
    kept: list[Evidence] = []
    for item in passages:
        _add(kept, item, most)
    return kept


def fresh_part(passage: str, shown: Iterable[str]) -> str:
    """Returns the part of a passage that was not shown before, or an empty string if nothing is new."""
    for text in shown:
        if passage in text:
            return ""
        passage = passage[: len(passage) - _shared(passage, text)].rstrip()
        passage = passage[_shared(text, passage) :].lstrip()
    return passage


def part_of(item: Evidence, passage: str) -> dict[str, object]:
    """Returns the fields of the evidence that change if it is cut to this part of its passage."""
    start = item.passage.index(passage)
    pages = [(at - start, page) for at, page in item.pages if at < start + len(passage)]
    return {"passage": passage, "section": None if start else item.section, "pages": _in_order(pages)}


def _in_order(pages: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    by_start = dict(sorted((max(at, 0), page) for at, page in pages))
    return tuple((at, page) for page, at in {page: at for at, page in reversed(by_start.items())}.items())[::-1]


def _add(kept: list[Evidence], new: Evidence, most: int) -> None:
    for place, old in enumerate(kept):
        if document_of(old) != document_of(new) or old.document != new.document:
            continue
        joined = _joined(old, new)
        if joined is not None and len(joined.passage) <= max(most, len(old.passage), len(new.passage)):
            del kept[place]
            n_before = len(kept)
            _add(kept, joined, most)
            if len(kept) > n_before:
                kept.insert(place, kept.pop())
            return
        part = fresh_part(new.passage, [old.passage])
        if not part:
            return
        new = new.model_copy(update=part_of(new, part))
    kept.append(new)


def _joined(old: Evidence, new: Evidence) -> Evidence | None:
    if new.passage in old.passage:
        return old
    begins = {"source": new.source, "section": new.section, "published": new.published, "pages": new.pages}
    if old.passage in new.passage:
        return old.model_copy(update={**begins, "passage": new.passage})
    if shared := _shared(old.passage, new.passage):
        source = over_pages(old.source, new.source)
        return old.model_copy(update={"source": source, **_together(old, new, shared)})
    if shared := _shared(new.passage, old.passage):
        source = over_pages(new.source, old.source)
        return old.model_copy(update={**begins, "source": source, **_together(new, old, shared)})
    return None


def _together(first: Evidence, second: Evidence, shared: int) -> dict[str, object]:
    before = len(first.passage) - shared
    pages = _in_order([*_pages(first), *((at + before, page) for at, page in _pages(second))])
    return {"passage": first.passage + second.passage[shared:], "pages": pages if len(pages) > 1 else ()}


def _pages(item: Evidence) -> Sequence[tuple[int, int]]:
    page = item.source.partition("#page=")[2]
    return item.pages or ([(0, int(page))] if page.isdecimal() else [])


def _shared(first: str, second: str) -> int:
    head = second[:_LEAST_SHARED]
    if len(head) < _LEAST_SHARED:
        return 0
    start = first.find(head)
    while start >= 0:
        if second.startswith(first[start:]):
            return len(first) - start
        start = first.find(head, start + 1)
    return 0
