"""What a third-person pronoun may stand for, from the sentences before it, its own sentence and the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import PARTICIPIAL, Clause, find_clause
from factloop.tools.linguistics.discourse import Context, Said
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.mentions import Mention, find_mentions
from factloop.tools.linguistics.words import NOMINAL, Word, capitalised, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

Number = Literal["he", "she", "it", "they"]
NUMBER_OF: dict[str, Number] = {
    "he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "it": "it", "its": "it",
    "they": "they", "their": "they",
}  # fmt: skip
_OPENS_PERSONAL = re.compile(r"(?:he|she|his|her)\b", re.IGNORECASE)
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
_LONGEST_PHRASE = 8
"""Words of a subject that is repeated; a longer one would read badly."""


def find_antecedents(number: Number, context: Context, nlp: Language | None) -> tuple[str, ...]:
    """What a subject or possessive pronoun may stand for. One: resolved; several: equally good; none: nothing fits."""
    for said in reversed(context.before):
        if number == "it" and _OPENS_PERSONAL.match(said.text):
            return ()  # the topic is a person: whatever `it` is, it stands in the middle of a sentence
        if number == "it" and _may_be_other(said, context, nlp):
            return ()
        fitting = tuple(dict.fromkeys(_candidates(said, number, context.about_person, nlp)))
        if fitting:
            return fitting
    asked = (mention.text for mention in context.asked.mentions if _fits(mention, number, context.about_person))
    return tuple(dict.fromkeys(asked))


def object_antecedent(claim: str, pronoun: Word, context: Context, nlp: Language | None) -> str | None:
    """What *it* or *its* after the verb of a claim about a person stands for; None where that is not certain.

    Either the topic with which the sentence opens by the same pronoun, or the object of the clause before: *Ann Lee
    bought the mill and sold its wheel*.
    """
    if not _is_about_person(claim, context, nlp):
        return None
    words = tag_words(context.sentence, nlp)
    clause = find_clause(words)
    if clause is None:
        return None
    if words[clause.subject].lower in {"it", "its"}:
        found = find_antecedents("it", context, nlp)
        return found[0] if len(found) == 1 and found[0].lower() not in claim.lower() else None
    span = _direct_object(words, clause)
    if span is None or not _is_about_person(context.sentence, context, nlp):
        return None
    start, end = span
    place = next((index for index in range(end, len(words)) if words[index].lower == pronoun.lower), None)
    if place is None or any(word.lower in {"the", "a", "an"} or capitalised(word.text) for word in words[end:place]):
        return None  # something else was named in between
    phrase = context.sentence[words[start].start : words[end - 1].end]
    phrase = re.sub(r"^an? ", "the ", phrase)
    return None if phrase.lower() in claim.lower() or is_plural(phrase) else phrase


def is_plural(phrase: str) -> bool:
    """Whether the head of a noun phrase looks like a plural; names are singular."""
    head = re.split(r" (?:of|in|for|from|by|with|on|at|that|located|called)\b", phrase)[0].split()
    if " and " in phrase:
        return True
    last = head[-1] if head else ""
    if last[:1].isupper() and head[0].lower() != "the":
        return False
    return last.lower() in _GENERIC_PLURALS or (last.endswith("s") and not last.endswith(("ss", "us", "is", "'s")))


def _fits(mention: Mention, number: Number, about_person: bool) -> bool:
    if number in {"he", "she"}:
        return mention.kind != "thing"
    if is_plural(mention.text) != (number == "they"):
        return False
    return mention.kind != "person" and not (about_person and _may_be_person(mention))


def _candidates(said: Said, number: Number, about_person: bool, nlp: Language | None) -> Iterator[str]:
    """What the sentence offers: its subject where that fits, else the persons or things it names."""
    sentence, mentions = said.text, said.mentions
    words = tag_words(sentence, nlp)
    clause = find_clause(words)
    if clause is None:
        if number in {"he", "she"}:
            yield from (m.text for m in mentions if _may_be_person(m) and _gender_fits(sentence, m, number))
        return
    span = (words[clause.subject].start, words[clause.verb - 1].end)
    head = words[clause.subject]
    if head.lower in lexicon.PRONOUNS or head.word_class == "possessive":
        return  # the same topic goes on: look further back
    if number in {"he", "she"} and _acts_upon(words, clause, number):
        return  # so it does here: who gave *her* something is not *she*
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
    plural = verb in {"are", "were", "have"} or (verb not in {"is", "was", "has"} and is_plural(subject))
    is_organisation = any(m.kind == "thing" and m.start == span[0] for m in in_subject)
    if plural == (number == "they") or (number == "they" and is_organisation):
        yield subject


def _acts_upon(words: Sequence[Word], clause: Clause, number: Number) -> bool:
    """Whether the verb is followed by *him*, or by a *her* that is no possessive: *gave her a ring*, not *her ring*."""
    after = words[clause.main + 1 : clause.main + 3]
    if not after or after[0].lower != {"he": "him", "she": "her"}.get(number):
        return False
    return number == "he" or len(after) == 1 or after[1].word_class not in {"name", "other", "participle", "ed"}


def _may_be_other(said: Said, context: Context, nlp: Language | None) -> bool:
    """Whether *it* in the next sentence may be what somebody here acted upon, or the topic rather than somebody."""
    words = tag_words(said.text, nlp)
    clause = find_clause(words)
    if clause is None or not _names_person(said.mentions, words[clause.subject], context):
        return False
    topics = (mention for mention in context.asked.mentions if _fits(mention, "it", context.about_person))
    return _direct_object(words, clause) is not None or any(topics)


def _is_about_person(text: str, context: Context, nlp: Language | None) -> bool:
    words = tag_words(text, nlp)
    clause = find_clause(words)
    if clause is None:
        return False
    head = words[clause.subject]
    return head.lower in {"he", "she"} or _names_person(find_mentions(text, nlp), head, context)


def _names_person(mentions: Sequence[Mention], head: Word, context: Context) -> bool:
    """Whether the name that begins with this word may be a person's. One that the prompt asks about in other words than
    *who* is not."""
    asked = set() if context.about_person else {mention.names for mention in context.asked.mentions}
    return any(m.start == head.start and m.names not in asked and _may_be_person(m) for m in mentions)


def _direct_object(words: Sequence[Word], clause: Clause) -> tuple[int, int] | None:
    """First word of the noun phrase right after the verb, and the word after its last; None for persons and plurals."""
    start = end = clause.main + 1
    if start >= len(words) or words[start].lower not in {"the", "a", "an"}:
        return None
    while end < len(words) and words[end].word_class in NOMINAL | PARTICIPIAL and not words[end].enclosed:
        end += 1
    is_bare = end == len(words) or words[end].lower not in {"of", "that", "which", "who"}
    return (start, end) if end > start + 1 and is_bare else None


def _may_be_person(mention: Mention) -> bool:
    return mention.kind in {"person", "maybe_person"}


def _noun_phrase(sentence: str, words: Sequence[Word], subject: int, verb: int) -> str | None:
    """The subject without trailing adverbs, appositive or parenthesis; None where it is too long to repeat."""
    if words[subject].word_class not in {"determiner", "name", "number", "other"}:
        return None
    end = subject
    while end < verb and words[end].word_class not in {"relative", "adverb"} and words[end].text not in {",", "("}:
        end += 1
    if not 0 < end - subject <= _LONGEST_PHRASE or words[end - 1].word_class == "determiner":
        return None
    if words[subject].lower in {"this", "these", "that", "those", "there", "another"}:
        return None
    return sentence[words[subject].start : words[end - 1].end]


def _gender_fits(sentence: str, mention: Mention, number: Number) -> bool:
    """False where a title or noun next to the name says otherwise."""
    near = sentence[max(0, mention.start - 12) : mention.start].lower().split()[-1:] + list(mention.names[:1])
    cues = {name.rstrip(".") for name in near}
    return not cues & (_FEMALE if number == "he" else _MALE)
