"""Finds the words of a response that may be replaced, by how much they tell (paper, section 2.1).

The order `paper` is that of its rules: words that stand only in the response come before those that the question has,
too; within both, entities come before nouns and numbers, these before verbs and adjectives, these before the rest.

The order `asked`, which is used unless the other is wanted, departs from it twice. What the question says it asks for
comes before all else, as the year does for *when*; that the answer names a city, too, is beside the point. And what
the question has, too, ranks with verbs and adjectives, before other words of the response: a shared name makes a
better distractor than another *there*.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from factloop.agents.trustscore.distractors.asked import answers
from factloop.agents.trustscore.distractors.base import Kind, Target
from factloop.agents.trustscore.distractors.spans import TargetSpan, find_spans, tokens_in
from factloop.agents.trustscore.records import SubstitutionLevel
from factloop.tools.knowledge_base.base import LinkedEntity
from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.english import lemmatize
from factloop.tools.vocabulary.tagging import Token, tag_tokens

TargetOrder = Literal["asked", "paper"]
MAX_CHARS = 20_000
"""Characters of a text that are looked at: of a longer one only the beginning."""
MAX_TARGETS = 24
"""Targets of each level: a few give all the distractors that are wanted."""

_KINDS: tuple[tuple[str, Kind], ...] = (("NN", "noun"), ("VB", "verb"), ("JJ", "adjective"))
_LEVELS = tuple(SubstitutionLevel)
_LAST_RESORT = frozenset({"DT", "PDT", "WDT", "EX", "POS", "TO", "MD", "CC", "PRP", "PRP$", "WP", "WP$", "WRB"})
"""Tags of words that make a poor distractor: they are replaced only where a response has nothing else."""


def find_targets(
    question: str, response: str, entities: Sequence[LinkedEntity], order: TargetOrder = "asked"
) -> list[Target]:
    """All that may be replaced, best first. Targets may overlap, since each distractor replaces only one.

    `entities` are those that knowledge bases have linked in the response; names in capitals are added to them."""
    return [target for tier in find_tiers(question, response, entities, order) for target in tier]


def find_tiers(
    question: str, response: str, entities: Sequence[LinkedEntity], order: TargetOrder = "asked"
) -> list[list[Target]]:
    """The targets in groups of equal rank, best first.

    Unless the order is the paper's, first what the question asks for. A level is one group or several: what stands only
    in the response, then shared entities, nouns, and other words."""
    text = response[:MAX_CHARS]
    tokens = tag_tokens(text)
    asked = frozenset(lemma(token.text) for token in tag_tokens(question[:MAX_CHARS]))
    spans = _all_spans(text, tokens, entities)
    shared = [_is_shared(tokens_in(tokens, span.start, span.end), asked) for span in spans]
    has_quantity = any(span.kind in {"date", "number"} and not both for span, both in zip(spans, shared, strict=True))
    types = {entity.end: entity.types for entity in entities}
    tiers: dict[tuple[bool, int, bool, int], list[Target]] = {}
    for span, both in zip(spans, shared, strict=True):
        own = _own_level(span, names_are_nouns=has_quantity)
        level = max(own, SubstitutionLevel.VERB_ADJECTIVE_OR_SHARED, key=_LEVELS.index) if both else own
        is_answer = not both and answers(question, text[span.start : span.end], span.kind, types.get(span.end, ()))
        rank = (not is_answer, _LEVELS.index(level), both, _LEVELS.index(own))
        if order == "paper":
            rank = (False, int(both), both, _LEVELS.index(own))
        tiers.setdefault(rank, []).append(_target(text, span, tokens, level))
    return _capped([tiers[rank] for rank in sorted(tiers)])


@lru_cache(maxsize=65_536)
def lemma(word: str) -> str:
    """A form for comparing words, without case, number, tense or dash."""
    return lemmatize(word.casefold().replace("–", "-")).casefold()


def _all_spans(text: str, tokens: Sequence[Token], entities: Sequence[LinkedEntity]) -> list[TargetSpan]:
    spans = find_spans(text, tokens, entities)
    covered = bytearray(len(text))
    for span in spans:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    return [*spans, *_words(tokens, covered)]


def _words(tokens: Sequence[Token], covered: Sequence[int]) -> Iterator[TargetSpan]:
    """The single words outside entities, dates and numbers. Not *children* of *a children's book*: no other fits."""
    odd = {
        after.start for before, after in pairwise(tokens) if before.text.lower() in {"a", "an"} and after.tag == "NNS"
    }
    free = [token for token in tokens if token.text[0].isalnum() and not covered[token.start]]
    content = [token for token in free if not _is_function_word(token) and token.start not in odd]
    for token in content:
        tag = _tag(token)
        kind: Kind = next((kind for start, kind in _KINDS if tag.startswith(start)), "word")
        yield TargetSpan(token.start, token.end, kind, tag)
    if not content and not any(covered):
        yield from (TargetSpan(token.start, token.end, "word", token.tag) for token in free)


def _tag(token: Token) -> str:
    """A name in small letters that no knowledge base knows is as often a rare noun; so is a gerund without *-ing*."""
    is_rare_noun = (token.tag == "NNP" and token.text.islower()) or (
        token.tag == "VBG" and not token.text.lower().endswith("ing")
    )
    return "NN" if is_rare_noun else token.tag


def _is_function_word(token: Token) -> bool:
    return token.tag in _LAST_RESORT or token.text.lower() in lexicon.FUNCTION_WORDS


def _is_shared(inside: Sequence[Token], asked: Collection[str]) -> bool:
    content = [token for token in inside if token.text[0].isalnum() and not _is_function_word(token)]
    return bool(inside) and all(lemma(token.text) in asked for token in content or inside)


def _own_level(span: TargetSpan, *, names_are_nouns: bool) -> SubstitutionLevel:
    """The level of a span that stands only in the response.

    A name of unknown type can only be replaced by any other word. A date or number beside it tells more, since others
    of its kind are known: there the name ranks as the noun that it is."""
    if span.is_name:
        return SubstitutionLevel.NOUN_OR_NUMBER if names_are_nouns else SubstitutionLevel.ENTITY
    if span.kind == "word":
        return SubstitutionLevel.ANY_WORD
    if span.kind in {"verb", "adjective"}:
        return SubstitutionLevel.VERB_ADJECTIVE_OR_SHARED
    return SubstitutionLevel.ENTITY if span.kind == "entity" else SubstitutionLevel.NOUN_OR_NUMBER


def _target(text: str, span: TargetSpan, tokens: Sequence[Token], level: SubstitutionLevel) -> Target:
    inside = tokens_in(tokens, span.start, span.end)
    tag = span.tag or (inside[-1].tag if inside else "NNP")
    return Target(text[span.start : span.end], span.start, span.end, level, span.kind, tag)


def _capped(tiers: Sequence[list[Target]]) -> list[list[Target]]:
    left = dict.fromkeys(SubstitutionLevel, MAX_TARGETS)
    kept: list[list[Target]] = []
    for tier in tiers:
        level = tier[0].level
        kept.append(tier[: left[level]])
        left[level] -= len(kept[-1])
    return [tier for tier in kept if tier]
