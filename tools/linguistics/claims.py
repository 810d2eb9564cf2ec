"""Splits a sentence into atomic facts by rules; every fact is a sentence of its own.

One step each for independent clauses, relative clauses, appositives, verb phrases, participles and lists. A step that
is unsure returns its input. What the steps return together must hold every content word of the sentence, or else the
sentence is returned whole: a rule that got confused loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from factloop.tools.linguistics import circumstances, coordination, lexicon, lists, modifiers, predicates
from factloop.tools.linguistics.checkworthiness import drop_opening, is_checkable
from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.words import content_words, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

Step = Callable[[str, "Language | None"], list[str]]

_STEPS: tuple[Step, ...] = (
    coordination.split_clauses,
    circumstances.split_parenthesis,
    modifiers.split_relative,
    modifiers.split_appositive,
    predicates.split_predicate_relative,
    predicates.split_participle,
    coordination.split_verb_phrases,
    circumstances.split_circumstances,
    coordination.split_objects,
    lists.split_list,
    predicates.split_nationality,
)
_MAX_CLAIMS = 24
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|neither|either|whether|not only|both|according to)\b"
    r"|\b(?:said|says|claimed|argued|argues|believed|believes|reported|suggested|suggests|thought|stated)\b(?!\s+to\b)"
    r"|\b(?:claims|reports|states|claim|report|state|believe|argue|suggest) that\b",
    re.IGNORECASE,
)
"""Splitting under a condition, a negation of two things or a report would change what is claimed."""

_CONTRACTED = re.compile(r"\b(it|he|she|there)['’]s\b(?! (?:been|had|got|become)\b)", re.IGNORECASE)
_SUBORDINATE = lexicon.SUBORDINATORS | {"once", "since", "after", "before", "as", "while", "assuming"}
"""Where the rules cannot tell the clause these open from the main clause."""

_DEFINITION = re.compile(r"(?P<name>[^:.!?]{2,80}?)(?::| [–—-]) (?P<rest>(?:an?|the) [a-z].*)", re.DOTALL)
_LABEL = re.compile(r"(?P<label>[^:.!?]{2,60}): (?P<rest>[A-Z\"“].*)", re.DOTALL)


def split_claims(sentence: str, nlp: Language | None = None) -> list[str]:
    """The atomic facts that a sentence states, in order; empty where it states nothing that can be checked.

    Markup and citations are taken out, subjects repeated, quotations kept whole. Where `nlp` has a tagger its tags are
    used. Costs well under a millisecond without it.
    """
    text = _CONTRACTED.sub(r"\1 is", drop_opening(plain_text(sentence)))
    if not is_checkable(text, tag_words(text, nlp)):
        return []
    text = _expand_label(text)
    claims = [_as_sentence(piece) for piece in _decompose(text, nlp)]
    return claims if _covers(claims, text) else [_as_sentence(text)]


def _decompose(text: str, nlp: Language | None) -> list[str]:
    words = tag_words(text, nlp)
    clause = find_clause(words)
    if _CONDITIONAL.search(text) or (clause is not None and words[clause.subject].lower in _SUBORDINATE):
        return [text]
    pieces = [text]
    for step in _STEPS:
        pieces = [result for piece in pieces for result in step(piece, nlp)]
    return list(dict.fromkeys(pieces)) if len(pieces) <= _MAX_CLAIMS else [text]


def _expand_label(text: str) -> str:
    """*Lindel: a town in Bavaria* becomes *Lindel is a town in Bavaria*; the label of a full sentence is dropped."""
    definition = _DEFINITION.fullmatch(text)
    if definition is not None and not _has_verb(definition["name"]) and definition["name"][:1].isupper():
        rest = definition["rest"]
        return f"{definition['name']} is {rest}" if not _has_verb(rest.split(",")[0]) else text
    label = _LABEL.fullmatch(text)
    if label is not None and not _has_verb(label["label"]) and find_clause(tag_words(label["rest"])) is not None:
        return label["rest"]
    return text


def _has_verb(text: str) -> bool:
    return find_clause(tag_words(text)) is not None


def _covers(claims: Sequence[str], text: str) -> bool:
    found = {word for claim in claims for word in content_words(claim)}
    wanted = set(content_words(text))
    return bool(claims) and wanted <= found


def _as_sentence(piece: str) -> str:
    piece = piece.strip().strip(",;").strip()
    piece = piece[:1].upper() + piece[1:] if not (len(piece) > 1 and piece[1].isupper()) else piece
    return piece if piece.endswith((".", "!", "?", "。", "！", '."', ".”", '!"', "!”")) else f"{piece}."
