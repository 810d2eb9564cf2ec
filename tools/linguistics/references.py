"""Replaces pronouns and short names by the entity they stand for, where the text before leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Literal

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import EXPLETIVE, find_clause
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.mentions import GENERIC_NOUNS, Mention, find_mentions
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.words import Word, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

_TAIL = 1200
"""Characters before the claim in which the antecedent of a pronoun is looked for."""

_CHUNK, _MAX_CHUNKS = 1000, 24
"""Full names are looked up in pieces of this many characters, each read once; of a long response the first and last."""

_LOOK_BACK = 6
"""Sentences a pronoun may reach back."""

Number = Literal["he", "she", "it", "they"]
_NUMBER_OF: dict[str, Number] = {
    "he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "it": "it", "its": "it",
    "they": "they", "their": "they",
}  # fmt: skip
_PERSONAL = re.compile(r"\b(?:he|she|his|her|him|who (?:is|was))\b", re.IGNORECASE)
_FEMALE = word_set(
    """
    mrs ms miss lady queen princess empress she her actress woman mother daughter sister wife
    """
)
_MALE = word_set(
    """
    mr sir lord king prince emperor pope he his actor man father son brother husband
    """
)
_GENERIC_PLURALS = frozenset({"people", "police", "researchers", "scientists"})


@dataclass(frozen=True, slots=True)
class _Antecedents:
    """What a pronoun may stand for. One: resolved; several: equally good; none: nothing fits."""

    texts: tuple[str, ...]


def resolve_references(claim: str, *, before: str, prompt: str | None, nlp: Language | None = None) -> str:
    """The claim with its subject (or possessive) pronoun and its short names replaced.

    `before` is the response up to the sentence of the claim. A claim is left alone wherever there is doubt, and what
    refers to something inside the claim stays as it is.
    """
    context = _context(_chunks(before), before[-_TAIL:], prompt, nlp)
    resolved = _expand_short_names(claim, context, nlp)
    pronoun = _open_pronoun(tag_words(resolved, nlp))
    if pronoun is None or _is_expletive(resolved, pronoun):
        return resolved
    antecedents = _find_antecedents(_NUMBER_OF[pronoun.lower], context, nlp).texts
    if len(antecedents) != 1:
        return resolved
    name = _full_name(antecedents[0], context)
    possessive = pronoun.word_class == "possessive"
    replacement = f"{name}{_genitive(name, pronoun)}" if possessive else name
    if pronoun.start > 0 and replacement.startswith(("The ", "A ", "An ")):
        replacement = replacement[0].lower() + replacement[1:]
    return f"{resolved[: pronoun.start]}{replacement}{resolved[pronoun.end :]}"


def is_ambiguous(claim: str, before: str, prompt: str | None, nlp: Language | None = None) -> bool:
    """Whether the subject pronoun of the claim has several equally good antecedents, or none at all.

    True only in the clear case: *they* and *it* may stand for what no rule sees, so that they count only where nothing
    comes before.
    """
    pronoun = _open_pronoun(tag_words(claim, nlp))
    if pronoun is None or pronoun.word_class == "possessive" or _is_expletive(claim, pronoun):
        return False
    context = _context(_chunks(before), before[-_TAIL:], prompt, nlp)
    number = _NUMBER_OF[pronoun.lower]
    found = _find_antecedents(number, context, nlp).texts
    if number in {"it", "they"} and not found:
        return not context.sentences and not context.prompt_mentions
    return len(found) != 1


def _genitive(name: str, pronoun: Word) -> str:
    return "'" if pronoun.lower == "their" and name.endswith("s") else "'s"


@dataclass(frozen=True, slots=True)
class _Context:
    sentences: tuple[str, ...]
    """Plain sentences before the claim, in order."""
    full_names: tuple[Mention, ...]
    prompt_mentions: tuple[Mention, ...]
    speaks_of_person: bool


def _chunks(before: str) -> tuple[str, ...]:
    """The text before the last `_TAIL` characters in pieces that stay the same from one sentence to the next."""
    starts = range(0, len(before) - _TAIL, _CHUNK)
    if len(starts) > _MAX_CHUNKS:
        starts_read = [*starts[: _MAX_CHUNKS // 2], *starts[-_MAX_CHUNKS // 2 :]]
    else:
        starts_read = list(starts)
    return tuple(before[start : start + _CHUNK] for start in starts_read)


@lru_cache(maxsize=64)
def _context(chunks: tuple[str, ...], tail: str, prompt: str | None, nlp: Language | None) -> _Context:
    sentences = tuple(plain_text(sentence.text) for sentence in split_sentences(tail))
    asked = find_mentions(plain_text((prompt or "")[-_TAIL:]), nlp)
    earlier = (find_mentions(plain_text(chunk), nlp) for chunk in chunks)
    nearby = (find_mentions(sentence, nlp) for sentence in sentences)
    mentions = [*asked, *chain.from_iterable(earlier), *chain.from_iterable(nearby)]
    full_names = tuple(dict.fromkeys(mention for mention in mentions if len(mention.names) > 1))
    speaks_of_person = any(_PERSONAL.search(text) for text in (prompt or "", *sentences))
    return _Context(sentences, full_names, asked, speaks_of_person)


def _open_pronoun(words: Sequence[Word]) -> Word | None:
    """The third-person pronoun that opens the claim, or follows its adverbial lead; None where a noun does."""
    for index, word in enumerate(words):
        if word.lower in _NUMBER_OF and not word.enclosed:
            opens = index == 0 or words[index - 1].text == ","
            return word if opens or word.lower == "him" else None
        if word.word_class in {"auxiliary", "modal", "past", "present"} or (word.word_class == "name" and index == 0):
            return None
    return None


def _is_expletive(claim: str, pronoun: Word) -> bool:
    return pronoun.lower == "it" and EXPLETIVE.search(claim) is not None


def _find_antecedents(number: Number, context: _Context, nlp: Language | None) -> _Antecedents:
    about_person = context.speaks_of_person
    for sentence in reversed(context.sentences[-_LOOK_BACK:]):
        if number == "it" and _PERSONAL.match(sentence):
            return _Antecedents(())  # the topic is a person: whatever `it` is, it stands in the middle of a sentence
        fitting = tuple(dict.fromkeys(_candidates(sentence, number, about_person, nlp)))
        if fitting:
            return _Antecedents(fitting)
    asked = [mention.text for mention in context.prompt_mentions if _fits(mention, number, about_person)]
    return _Antecedents(tuple(dict.fromkeys(asked)))


def _fits(mention: Mention, number: Number, about_person: bool) -> bool:
    if number in {"he", "she"}:
        return mention.kind != "thing"
    if _is_plural(mention.text) != (number == "they"):
        return False
    return mention.kind != "person" and not (about_person and _may_be_person(mention))


def _candidates(sentence: str, number: Number, about_person: bool, nlp: Language | None) -> Iterator[str]:
    """What the sentence offers: its subject where that fits, else the persons or things it names."""
    words = tag_words(sentence, nlp)
    clause = find_clause(words)
    mentions = find_mentions(sentence, nlp)
    if clause is None:
        if number in {"he", "she"}:
            yield from (m.text for m in mentions if _may_be_person(m) and _gender_fits(sentence, m, number))
        return
    span = (words[clause.subject].start, words[clause.verb - 1].end)
    head = words[clause.subject]
    if head.lower in lexicon.PRONOUNS or head.word_class == "possessive":
        return  # the same topic goes on: look further back
    in_subject = [m for m in mentions if span[0] <= m.start < span[1]]
    if number in {"he", "she"}:
        coordinated = " and " in sentence[span[0] : span[1]]
        persons = [m for m in in_subject if m.kind != "thing" and _gender_fits(sentence, m, number)]
        persons = [m for m in persons if coordinated or m.start == span[0] or m.kind == "person"]
        if persons and "'s" not in sentence[span[0] : span[1]]:
            yield from (m.text for m in persons if coordinated or m is persons[0])
            return
        yield from (m.text for m in mentions if _may_be_person(m) and _gender_fits(sentence, m, number))
        return
    subject = _noun_phrase(sentence, words, clause.subject, clause.verb)
    persons = [m for m in in_subject if m.kind == "person" or (about_person and _may_be_person(m))]
    if subject is None or (number == "it" and persons):
        return
    verb = words[clause.verb].lower
    plural = verb in {"are", "were", "have"} or (verb not in {"is", "was", "has"} and _is_plural(subject))
    is_organisation = any(m.kind == "thing" and m.start == span[0] for m in in_subject)
    if plural == (number == "they") or (number == "they" and is_organisation):
        yield subject


def _may_be_person(mention: Mention) -> bool:
    return mention.kind in {"person", "maybe_person"}


def _noun_phrase(sentence: str, words: Sequence[Word], subject: int, verb: int) -> str | None:
    """The subject without trailing adverbs, appositive or parenthesis; None where it is too long to repeat."""
    if words[subject].word_class not in {"determiner", "name", "number", "other"}:
        return None
    end = subject
    while end < verb and words[end].word_class not in {"relative", "adverb"} and words[end].text not in {",", "("}:
        end += 1
    if not 0 < end - subject <= 8 or words[subject].lower in {"this", "these", "that", "those", "there", "another"}:
        return None
    return sentence[words[subject].start : words[end - 1].end]


def _is_plural(phrase: str) -> bool:
    head = re.split(r" (?:of|in|for|from|by|with|on|at|that|located|called)\b", phrase)[0].split()
    if " and " in phrase:
        return True
    last = head[-1] if head else ""
    if last[:1].isupper() and head[0].lower() != "the":
        return False
    return last.lower() in _GENERIC_PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is")))


def _gender_fits(sentence: str, mention: Mention, number: Number) -> bool:
    """False where a title or noun next to the name says otherwise."""
    near = sentence[max(0, mention.start - 12) : mention.start].lower().split()[-1:] + list(mention.names[:1])
    cues = {name.rstrip(".") for name in near}
    return not cues & (_FEMALE if number == "he" else _MALE)


def _full_name(name: str, context: _Context) -> str:
    """*Einstein* becomes *Albert Einstein* where exactly one full name before ends so."""
    words = name.lower().split()
    if len(words) != 1:
        return name
    full = {m.names: m.text for m in context.full_names if m.kind != "thing" and words[0] in (m.names[-1], m.names[0])}
    return next(iter(full.values())) if len(full) == 1 else name


def _expand_short_names(claim: str, context: _Context, nlp: Language | None) -> str:
    mentions = find_mentions(claim, nlp)
    known = {mention.names for mention in mentions}
    for mention in reversed(mentions):
        full = _expansion(claim, mention, context)
        if full is None or tuple(name for name in full.lower().split() if name != "the") in known:
            continue
        claim = f"{claim[: mention.start]}{full}{claim[mention.end :]}"
    return claim


def _expansion(claim: str, mention: Mention, context: _Context) -> str | None:
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
    if has_article or mention.kind == "thing":
        return None
    expanded = _full_name(mention.text, context)
    return expanded if expanded != mention.text else None
