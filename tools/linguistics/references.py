"""Replaces pronouns and short names by the entity they stand for, where the text before leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from factloop.tools.linguistics.antecedents import NUMBER_OF, find_antecedents, find_pair
from factloop.tools.linguistics.clauses import EXPLETIVE, find_clause
from factloop.tools.linguistics.discourse import Context
from factloop.tools.linguistics.families import Rule
from factloop.tools.linguistics.mentions import GENERIC_NOUNS, Mention, find_mentions
from factloop.tools.linguistics.personal import leaves_person_open, name_persons
from factloop.tools.linguistics.things import leaves_thing_open
from factloop.tools.linguistics.words import Word, tag_words
from factloop.tools.linguistics.years import name_years

if TYPE_CHECKING:
    from spacy.language import Language

Resolver = Callable[[str, Context, "Language | None"], str]

_LONGER_NAME = re.compile(r"(?:'s|’s) [A-Z]|[ -][vV]?\d")
"""After a short name: *Halden's Bridge* and the model *Halden 4* are names of their own."""


def resolve_references(
    claim: str, context: Context, nlp: Language | None = None, *, rules: tuple[Rule[Resolver], ...] | None = None
) -> str:
    """The claim with its pronoun and its short names replaced.

    Of *it* and *they* those are replaced that are the subject or its possessor. A claim is left alone wherever there
    is doubt, and what refers to something inside the claim stays as it is. `rules` are `RESOLVERS` where not given.
    """
    for rule in RESOLVERS if rules is None else rules:
        claim = rule.apply(claim, context, nlp)
    return claim


def _name_persons(claim: str, context: Context, _nlp: Language | None) -> str:
    return name_persons(claim, context.referents)


def _name_years(claim: str, context: Context, _nlp: Language | None) -> str:
    return name_years(claim, context)


def _replace_open(claim: str, context: Context, _nlp: Language | None) -> str:
    pronoun = _open_pronoun(tag_words(claim))
    if pronoun is None or _is_expletive(claim, pronoun):
        return claim
    antecedents = find_antecedents(NUMBER_OF[pronoun.lower], context)
    return _replace(claim, pronoun, antecedents[0], context) if len(antecedents) == 1 else claim


def _name_pair(claim: str, context: Context, _nlp: Language | None) -> str:
    """*They* are the only two people spoken of, where no rule sees another plural."""
    pronoun = _open_pronoun(tag_words(claim))
    if pronoun is None or pronoun.lower not in {"they", "their"}:
        return claim
    pair = " and ".join(find_pair(context))
    if not pair:
        return claim
    genitive = "'s" if pronoun.lower == "their" else ""
    return f"{claim[: pronoun.start]}{pair}{genitive}{claim[pronoun.end :]}"


def is_ambiguous(claim: str, context: Context) -> bool:
    """Whether the claim leaves open whom *he* or *she* means, or what a later *it* or *them*, or its subject is a
    pronoun with several equally good antecedents.

    As a subject *it* may stand for what no rule sees, so that without any it counts only where nothing comes before.
    """
    words = tag_words(claim)
    if leaves_thing_open(words) or leaves_person_open(claim, context.referents):
        return True
    pronoun = _open_pronoun(words)
    if pronoun is None or _is_expletive(claim, pronoun) or pronoun.lower == "its":
        return False
    number = NUMBER_OF[pronoun.lower]
    if number == "they" and find_pair(context):
        return False
    found = find_antecedents(number, context)
    if not found and number == "it":
        return not context.before and not context.asked.mentions
    return len(found) != 1


def _replace(claim: str, pronoun: Word, antecedent: str, context: Context) -> str:
    name = _full_name(antecedent, context)
    genitive = "'" if pronoun.lower == "their" and name.endswith("s") else "'s"
    replacement = f"{name}{genitive}" if pronoun.word_class == "possessive" else name
    if pronoun.start > 0 and replacement.startswith(("The ", "A ", "An ")):
        replacement = replacement[0].lower() + replacement[1:]
    elif pronoun.start == 0 and replacement.startswith("the "):
        replacement = replacement[0].upper() + replacement[1:]
    return f"{claim[: pronoun.start]}{replacement}{claim[pronoun.end :]}"


def _open_pronoun(words: tuple[Word, ...]) -> Word | None:
    """The third-person pronoun that opens the claim, or follows its adverbial lead (*Unlike its rivals, it needed
    air*); None where a noun does."""
    clause = find_clause(words)
    for index, word in enumerate(words):
        if word.lower in NUMBER_OF and not word.enclosed:
            if index == 0 or words[index - 1].text == "," or (clause is not None and clause.subject == index):
                return word
            if clause is None or clause.subject < index:
                return None
        if word.word_class in {"auxiliary", "modal", "past", "present"} or (word.word_class == "name" and index == 0):
            return None
    return None


def _is_expletive(claim: str, pronoun: Word) -> bool:
    return pronoun.lower == "it" and EXPLETIVE.search(claim) is not None


def _full_name(name: str, context: Context) -> str:
    """*Einstein* becomes *Albert Einstein* where exactly one full name before ends so."""
    words = name.lower().split()
    if len(words) != 1:
        return name
    full = {m.names: m.text for m in context.full_names if m.kind != "thing" and words[0] in (m.names[-1], m.names[0])}
    return next(iter(full.values())) if len(full) == 1 else name


def _expand_short_names(claim: str, context: Context, nlp: Language | None) -> str:
    mentions = find_mentions(claim, nlp)
    known = {mention.names for mention in mentions}
    for mention in reversed(mentions):
        full = _expansion(claim, mention, context)
        if full is None or tuple(name for name in full.lower().split() if name != "the") in known:
            continue
        claim = f"{claim[: mention.start]}{full}{claim[mention.end :]}"
    return claim


def _expansion(claim: str, mention: Mention, context: Context) -> str | None:
    if len(mention.names) != 1 or claim[: mention.start].count('"') % 2:
        return None
    name, has_article = mention.names[0], mention.text.lower().startswith("the ")
    if has_article and name in GENERIC_NOUNS:
        full = {
            m.names: m.text
            for m in context.full_names
            if m.names[-1] == name or (m.names[0] == name and "of" in m.names)
        }
        if len(full) != 1:
            return None
        text = next(iter(full.values()))
        text = text if text.lower().startswith("the ") else f"the {text}"
        return ("T" if mention.start == 0 else "t") + text[1:]
    if has_article or mention.kind == "thing" or _LONGER_NAME.match(claim, mention.end):
        return None
    expanded = _full_name(mention.text, context)
    if claim[mention.start :].lower().startswith(expanded.lower()):
        return None  # *Quick sand*, asked about as *Quick Sand*
    return expanded if expanded != mention.text else None


RESOLVERS: tuple[Rule[Resolver], ...] = (
    Rule("short names", _expand_short_names),
    Rule("personal pronouns", _name_persons),
    Rule("subject pronouns", _replace_open),
    Rule("pairs", _name_pair),
    Rule("years counted from others", _name_years),
)
