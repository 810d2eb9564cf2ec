"""Splits a sentence into atomic facts by rules; every fact is a sentence of its own.

One step each for independent clauses, relative clauses, appositives, verb phrases, participles and lists. A step that
is unsure returns its input. What the steps return together must hold every content word of the sentence, or else the
sentence is returned whole: a rule that got confused loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from factloop.tools.linguistics import circumstances, coordination, lists, modifiers, predicates
from factloop.tools.linguistics.checkworthiness import SILENCES, Silencer, drop_opening, is_checkable
from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.families import Rule, without
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.parsed import MAX_CLAIMS, is_parsed, split_by_parse
from factloop.tools.linguistics.words import content_words, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

Rewriter = Callable[[str], str]
Guard = Callable[[str], bool]
Step = Callable[[str], list[str]]

_CONDITION = re.compile(r"\b(?:if|unless|neither|either|whether|not only|according to)\b", re.IGNORECASE)
_REPORTED = re.compile(
    r"\b(?:said|says|claimed|argued|argues|believed|believes|reported|suggested|suggests|thought|stated)\b(?!\s+to\b)"
    r"|\b(?:claims|reports|states|claim|report|state|believe|argue|suggest) (?=that\b)",
    re.IGNORECASE,
)

_CONTRACTED = re.compile(r"\b(it|he|she|there)['’]s\b(?! (?:been|had|got|become)\b)", re.IGNORECASE)
_LABEL = re.compile(r"(?P<label>[^:.!?(]{2,60}): (?P<rest>[A-Z\"“].*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rules:
    """The families of rules, in the order in which they are applied."""

    openings: tuple[Rule[Rewriter], ...]
    """Take off what comes before the statement."""
    silences: tuple[Rule[Silencer], ...]
    """Tell sentences that state nothing."""
    labels: tuple[Rule[Rewriter], ...]
    """Make a sentence of a label and what follows it."""
    guards: tuple[Rule[Guard], ...]
    """Tell sentences that no step may split."""
    steps: tuple[Rule[Step], ...]

    @property
    def families(self) -> tuple[str, ...]:
        rules = (rule for field in fields(self) for rule in getattr(self, field.name))
        return tuple(dict.fromkeys(rule.family for rule in rules))

    def without(self, family: str) -> Rules:
        """These rules but those of one family."""
        return replace(self, **{field.name: without(getattr(self, field.name), family) for field in fields(self)})


def split_claims(sentence: str, nlp: Language | None = None, *, rules: Rules | None = None) -> list[str]:
    """The atomic facts that a sentence states, in order; empty where it states nothing that can be checked.

    Markup and citations are taken out, subjects repeated, quotations kept whole. Where `nlp` parses, the sentence is
    split by its parse and by no rule. Costs well under a millisecond without it. `rules` are those of `RULES` where not
    given.
    """
    rules = rules or RULES
    text = _rewrite(plain_text(sentence), rules.openings)
    if not is_checkable(text, tag_words(text), rules.silences):
        return []
    text = _rewrite(text, rules.labels)
    doc = nlp(text) if nlp is not None else None
    pieces = split_by_parse(doc) if doc is not None and is_parsed(doc) else _decompose(text, rules)
    claims = [_as_sentence(piece) for piece in pieces]
    return claims if _covers(claims, text) else [_as_sentence(text)]


def _rewrite(text: str, rules: Sequence[Rule[Rewriter]]) -> str:
    for rule in rules:
        text = rule.apply(text)
    return text


def _decompose(text: str, rules: Rules) -> list[str]:
    if any(rule.apply(text) for rule in rules.guards):
        return [text]
    pieces = [text]
    for rule in rules.steps:
        pieces = [result for piece in pieces for result in rule.apply(piece)]
    return list(dict.fromkeys(pieces)) if len(pieces) <= MAX_CLAIMS else [text]


def _spell_out(text: str) -> str:
    """*It's a town* becomes *It is a town*."""
    return _CONTRACTED.sub(r"\1 is", text)


def _is_conditional(text: str) -> bool:
    """Whether a part of the sentence would claim what the whole does not: it holds under a condition only, denies two
    things, or says what another said. *Reported a loss* reports nothing: no clause follows."""
    if _CONDITION.search(text) is not None:
        return True
    return any(find_clause(tag_words(text[found.end() :].lstrip())) for found in _REPORTED.finditer(text))


def _drop_label(text: str) -> str:
    """The text after a label that says no more than it: *Port: The port of Lindel opened in 1901*."""
    found = _LABEL.fullmatch(text)
    return found["rest"] if found is not None and _covers([found["rest"]], found["label"]) else text


def _covers(claims: Sequence[str], text: str) -> bool:
    found = {word for claim in claims for word in content_words(claim)}
    wanted = set(content_words(text))
    return bool(claims) and wanted <= found


def _as_sentence(piece: str) -> str:
    piece = piece.strip().strip(",;").strip()
    piece = piece[:1].upper() + piece[1:] if not (len(piece) > 1 and piece[1].isupper()) else piece
    return piece if piece.endswith((".", "!", "?", "。", "！", '."', ".”", '!"', "!”")) else f"{piece}."


RULES = Rules(
    openings=(Rule("openings", drop_opening), Rule("contractions", _spell_out)),
    silences=SILENCES,
    labels=(Rule("labels", _drop_label),),
    guards=(Rule("conditions", _is_conditional),),
    steps=(
        Rule("clauses", coordination.split_clauses),
        Rule("born in parentheses", circumstances.split_parenthesis),
        Rule("relative clauses", modifiers.split_relative),
        Rule("subject appositives", modifiers.split_subject_appositive),
        Rule("final appositives", modifiers.split_final_appositive),
        Rule("relative clauses of predicates", predicates.split_predicate_relative),
        Rule("participles of predicates", predicates.split_participle),
        Rule("verb phrases", coordination.split_verb_phrases),
        Rule("circumstances", circumstances.split_circumstances),
        Rule("objects", coordination.split_objects),
        Rule("lists of professions", lists.split_professions),
        Rule("lists of titles", lists.split_titles),
        Rule("lists of names", lists.split_names),
        Rule("final names", lists.split_final_names),
        Rule("nationalities", predicates.split_nationality),
    ),
)
