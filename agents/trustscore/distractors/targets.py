"""Finds the words of a response to replace, most informative first (paper, section 2.1).

The `paper` order follows the paper's rules: words that occur only in the response come before words that are also in
the question. Within each group, entities come before nouns and numbers, then verbs and adjectives, then the rest.

The default order, `asked`, departs from this in two ways. Words of the type that the question asks for come first, such
as a year for *when*. Words that also occur in the question are never replaced.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from factloop.agents.trustscore.distractors import dates, numbers
from factloop.agents.trustscore.distractors.base import Kind, Target
from factloop.agents.trustscore.distractors.numbers import Found, find
from factloop.agents.trustscore.records import SubstitutionLevel
from factloop.tools.names.asked import NUMBER, TIME, asked_for
from factloop.tools.names.base import LinkedEntity
from factloop.tools.names.built_in import general_types, is_asked_for, names_in
from factloop.tools.names.inflection import lemmas
from factloop.tools.names.packaged import NOUN
from factloop.tools.text.pipeline import load_pipeline, parse

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

TargetOrder = Literal["asked", "paper"]
MAX_CHARS = 20_000
"""Maximum number of characters to read. The rest of a longer text is ignored."""
MAX_TARGETS = 24
_KINDS: dict[str, Kind] = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective", "ADV": "word"}
_LEVELS = tuple(SubstitutionLevel)
_LEVEL_OF_KIND: dict[Kind, SubstitutionLevel] = {
    "entity": SubstitutionLevel.ENTITY,
    "verb": SubstitutionLevel.VERB_ADJECTIVE_OR_SHARED,
    "adjective": SubstitutionLevel.VERB_ADJECTIVE_OR_SHARED,
    "word": SubstitutionLevel.ANY_WORD,
}
_LIST_NUMBER = re.compile(r"(?:\n|^)\d{1,2}[.)]\s+\S")
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


class TargetSpan(NamedTuple):
    start: int
    end: int
    kind: Kind
    types: tuple[str, ...] = ()

    def holds(self, other: TargetSpan) -> bool:
        return self.start <= other.start and other.end <= self.end

    def meets_any(self, others: Iterable[TargetSpan]) -> bool:
        return any(self.start < other.end and other.start < self.end for other in others)


def find_tiers(
    question: str, response: str, entities: Sequence[LinkedEntity], order: TargetOrder = "asked"
) -> list[list[Target]]:
    """Returns all possible targets in groups of equal rank, best first. Targets may overlap.

    `entities` are those linked by knowledge bases. Names that spaCy finds are added.
    """
    doc = parse(response[:MAX_CHARS], load_pipeline())
    said = frozenset(form for token in parse(question[:MAX_CHARS], load_pipeline()) for form in _forms(token))
    tiers: dict[tuple[bool, bool, int], list[Target]] = {}
    for span in _spans(doc, entities):
        is_shared = _is_shared(doc, span, said)
        if is_shared and order != "paper":
            continue
        target = _target(doc, span, question, is_shared=is_shared)
        own = _LEVELS.index(_LEVEL_OF_KIND.get(span.kind, SubstitutionLevel.NOUN_OR_NUMBER))
        tiers.setdefault((order != "paper" and not target.asked, is_shared, own), []).append(target)
    left = dict.fromkeys(SubstitutionLevel, MAX_TARGETS)
    capped: list[list[Target]] = []
    for _, tier in sorted(tiers.items()):
        capped.append(tier[: left[tier[0].level]])
        left[tier[0].level] -= len(capped[-1])
    return [tier for tier in capped if tier]


def without_article(text: str, start: int, end: int) -> int:
    article = _ARTICLE.match(text, start, end)
    return article.end() if article and article.end() < end else start


def _forms(token: Token) -> frozenset[str]:
    return lemmas(token.lower_.strip(".")) | {token.lemma_.lower()}


def _spans(doc: Doc, entities: Sequence[LinkedEntity]) -> list[TargetSpan]:
    """Returns linked entities, dates, numbers, other names, and the remaining single words. A date within a name
    belongs to the name (*2012 Olympics*), and a name within a date belongs to the date.
    """
    quantities = _quantities(doc)
    linked: list[TargetSpan] = []
    for one in (_linked(doc.text, entity) for entity in entities if entity.end <= len(doc.text)):
        if not any(span.holds(one) for span in (*quantities, *linked)):
            linked.append(one)
    spans = [*linked, *(span for span in quantities if not any(one.holds(span) for one in linked))]
    for more in (_names(doc), _words(doc)):
        spans += [one for one in more if not one.meets_any(spans)]
    return spans


def _linked(text: str, entity: LinkedEntity) -> TargetSpan:
    kind: Kind = "noun" if entity.types[0].startswith(NOUN) else "entity"
    return TargetSpan(without_article(text, entity.start, entity.end), entity.end, kind, entity.types)


def _names(doc: Doc) -> Iterator[TargetSpan]:
    for name in names_in(doc):
        yield TargetSpan(without_article(doc.text, name.start_char, name.end_char), name.end_char, "entity")


def _words(doc: Doc) -> Iterator[TargetSpan]:
    for token in doc:
        kind = _KINDS.get(token.pos_)
        if kind is not None and token.is_alpha and not token.is_stop and token.dep_ != "compound":
            yield TargetSpan(token.idx, token.idx + len(token), kind)


def _quantities(doc: Doc) -> list[TargetSpan]:
    spans = [TargetSpan(one.start, one.end, _kind_of_date(doc, one)) for one in find(doc.text, dates.FORMATS)]
    for one in find(doc.text, numbers.FORMATS):
        span = TargetSpan(one.start, one.end, "number")
        is_listed = _LIST_NUMBER.match(doc.text, max(0, one.start - 1))
        if not span.meets_any(spans) and not is_listed and _is_number(doc, one):
            spans.append(span)
    return sorted(spans, key=lambda span: span.start)


def _kind_of_date(doc: Doc, found: Found) -> Kind:
    following = next((token for token in doc if token.idx >= found.end), None)
    return "number" if found.name == "year" and following is not None and following.tag_ == "NNS" else "date"


def _is_number(doc: Doc, found: Found) -> bool:
    """Whether the text is a number. Figures always are. Words are only if they count things, unlike *the one*."""
    if any(letter.isdigit() for letter in doc.text[found.start : found.end]):
        return True
    tokens = _tokens(doc, found.start, found.end)
    counts = any(token.dep_ == "nummod" or token.head.pos_ == "NOUN" for token in tokens)
    return bool(tokens) and (counts or len(tokens) == sum(token.is_alpha for token in doc) or not tokens[0].is_alpha)


def _tokens(doc: Doc, start: int, end: int) -> list[Token]:
    return [token for token in doc if start < token.idx + len(token) and token.idx < end]


def _is_shared(doc: Doc, span: TargetSpan, said: Collection[str]) -> bool:
    tokens = [token for token in _tokens(doc, span.start, span.end) if not token.is_punct]
    content = [token for token in tokens if not token.is_stop] or tokens
    return bool(said) and not any(_forms(token).isdisjoint(said) for token in content)


def _target(doc: Doc, span: TargetSpan, question: str, *, is_shared: bool) -> Target:
    tokens = _tokens(doc, span.start, span.end)
    own = _LEVEL_OF_KIND.get(span.kind, SubstitutionLevel.NOUN_OR_NUMBER)
    level = max(own, SubstitutionLevel.VERB_ADJECTIVE_OR_SHARED, key=_LEVELS.index) if is_shared else own
    tag = {"entity": "NNP", "date": "CD", "number": "CD"}.get(span.kind) or (tokens[-1].tag_ if tokens else "NN")
    asked = not is_shared and _is_asked(span, question)
    return Target(doc.text[span.start : span.end], span.start, span.end, level, span.kind, tag, asked)


def _is_asked(span: TargetSpan, question: str) -> bool:
    asked = asked_for(question)
    if span.kind in {"date", "number"}:
        is_time = TIME in asked or any("noun.time" in general_types(word) for word in asked)
        return is_time if span.kind == "date" else NUMBER in asked
    return is_asked_for(span.types, asked)
