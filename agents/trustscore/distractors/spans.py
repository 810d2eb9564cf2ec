"""Finds the stretches of a response that may be several words: dates, numbers, linked entities, names by capitals."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from factloop.agents.trustscore.distractors import dates, numbers
from factloop.agents.trustscore.distractors.base import Kind
from factloop.agents.trustscore.distractors.formats import FormatMatch, find
from factloop.agents.trustscore.distractors.number_words import ORDINALS
from factloop.tools.knowledge_base.base import LinkedEntity
from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.english import is_known
from factloop.tools.linguistics.mentions import GENERIC_NOUNS, find_mentions
from factloop.tools.vocabulary.tagging import Token, tag_tokens

_QUOTED = re.compile(r"(?<!\w)[\"“‘'](?=[^\W_a-z])([^\"“”‘’\n]{2,80}?)[.,!?]?[\"”’'](?!\w)")
_LIST_NUMBER = re.compile(r"(?:\n|^)\d{1,2}[.)]\s+\S")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st"})
_NOT_COUNTED = frozenset({"the", "this", "that", "no", "any", "each", "every", "another", "which", "is", "was"})
_BEFORE_ORDINAL = frozenset({"DT", "PRP$", "POS", "CC"})


@dataclass(frozen=True, slots=True)
class TargetSpan:
    """`tag` is empty where the words' own tags tell it."""

    start: int
    end: int
    kind: Kind
    tag: str = ""
    is_name: bool = False
    """A name, or one word of it, that no knowledge base has linked."""

    def holds(self, other: TargetSpan) -> bool:
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: TargetSpan) -> bool:
        return self.start < other.end and other.start < self.end


def find_spans(text: str, tokens: Sequence[Token], entities: Sequence[LinkedEntity]) -> list[TargetSpan]:
    """Linked entities first, as they come; then names that no knowledge base knows, and dates and numbers.

    A date inside a longer name belongs to it (*2012 Olympics*), a name inside a date to the date (*June*)."""
    linked = [
        without_article(text, TargetSpan(one.start, one.end, "entity")) for one in entities if one.end <= len(text)
    ]
    quantities = _quantities(text, tokens)
    linked = [one for one in dict.fromkeys(linked) if not any(span.holds(one) for span in quantities)]
    names = [one for one in _names(text, tokens) if not any(one.meets(other) for other in (*linked, *quantities))]
    outside = [span for span in quantities if not any(one.holds(span) for one in linked)]
    return [*linked, *names, *outside]


def tokens_in(tokens: Sequence[Token], start: int, end: int) -> Sequence[Token]:
    first = bisect_left(tokens, start, key=lambda token: token.start)
    return tokens[first : bisect_right(tokens, end, lo=first, key=lambda token: token.end)]


def without_article(text: str, span: TargetSpan) -> TargetSpan:
    """The span without its article: articles stay, and are corrected when the substitute is inserted."""
    article = _ARTICLE.match(text, span.start, span.end)
    return replace(span, start=article.end()) if article and article.end() < span.end else span


def _names(text: str, tokens: Sequence[Token]) -> Iterator[TargetSpan]:
    """Names by capitals and quotation marks.

    Of a longer name the words that tell it from others are replaced one by one, since nothing says what kind of thing
    it names: *Purple Rain* may become *Purple Snow*."""
    quoted = [TargetSpan(match.start(1), match.end(1), "entity") for match in _QUOTED.finditer(text)]
    mentions = [TargetSpan(mention.start, mention.end, "entity") for mention in find_mentions(text)]
    for name in [*quoted, *(one for one in mentions if not any(one.meets(other) for other in quoted))]:
        bare = without_article(text, name)
        inner = [token for token in tokens_in(tokens, bare.start, bare.end) if _is_word(token)]
        if len(inner) > 1:
            yield from _telling_words(inner)
        elif inner and _opens_sentence(text, bare.start):
            word = _name_word(inner[0])
            yield replace(word, is_name=word.kind == "entity")
        elif inner and (inner[0].tag.startswith("NNP") or not is_known(inner[0].text.lower())):
            yield replace(bare, tag="NNP", is_name=True)


def _opens_sentence(text: str, start: int) -> bool:
    """Whether the text before opens a sentence, so that a capital tells nothing: *Football is played* has no name."""
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?:"


def _is_word(token: Token) -> bool:
    lower = token.text.lower()
    is_word = lower[0].isalpha() and not lower.startswith(("n't", "n’t"))
    return is_word and lower not in lexicon.FUNCTION_WORDS and lower.rstrip(".") not in _TITLES


def _telling_words(inner: Sequence[Token]) -> Iterator[TargetSpan]:
    """The words without the kind of thing: *Pierce* of *Pierce County*, *Happo* of *Battle of Happo*."""
    middle = inner[1:-1]
    ends = [token for token in (inner[0], inner[-1]) if token.text.lower() not in GENERIC_NOUNS]
    telling = sorted([*middle, *ends], key=lambda token: token.start) or inner
    return (_name_word(token) for token in telling if len(token.text) > 2)


def _name_word(token: Token) -> TargetSpan:
    """A word of a name as the word that it is elsewhere (*purple*, an adjective), or as a name."""
    lower = token.text.lower()
    tag = tag_tokens(lower)[0].tag if is_known(lower) else "NNP"
    kind: Kind = "adjective" if tag.startswith("JJ") else "noun" if tag in {"NN", "NNS"} else "entity"
    return TargetSpan(token.start, token.end, kind, tag if kind != "entity" else "NNP", is_name=True)


def _quantities(text: str, tokens: Sequence[Token]) -> list[TargetSpan]:
    found = find(text, dates.FORMATS)
    spans = [TargetSpan(one.start, one.end, _kind(one, tokens), "CD") for one in found]
    taken = bytearray(len(text))
    for span in spans:
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
    spans.extend(
        TargetSpan(one.start, one.end, "number", "CD")
        for one in find(text, numbers.FORMATS)
        if not any(taken[one.start : one.end])
        and not _LIST_NUMBER.match(text, max(0, one.start - 1))
        and _is_number(text[one.start : one.end].lower(), one, tokens)
    )
    return sorted(spans, key=lambda span: span.start)


def _kind(found: FormatMatch, tokens: Sequence[Token]) -> Kind:
    """*1500 metres* is no year."""
    following = _following(found, tokens)
    counts = found.format.name == "year" and following is not None and following.tag == "NNS"
    return "number" if counts and following is not None and following.text.islower() else "date"


def _following(found: FormatMatch, tokens: Sequence[Token]) -> Token | None:
    index = bisect_left(tokens, found.end, key=lambda token: token.start)
    return tokens[index] if index < len(tokens) else None


def _is_number(lower: str, found: FormatMatch, tokens: Sequence[Token]) -> bool:
    """*one* and *first* are often something else: *the one*, *was first lit*."""
    if lower != "one" and lower not in ORDINALS:
        return True
    index = bisect_left(tokens, found.start, key=lambda token: token.start)
    before, following = tokens[index - 1] if index else None, _following(found, tokens)
    if before is None and following is None:
        return True
    precedes_noun = following is not None and following.tag.startswith(("NN", "JJ", "CD"))
    if lower == "one":
        return precedes_noun and (before is None or before.text.lower() not in _NOT_COUNTED)
    return precedes_noun or (before is not None and before.tag in _BEFORE_ORDINAL)
