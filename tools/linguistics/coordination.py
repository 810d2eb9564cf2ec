"""Splits what *and*, *but* and *while* join: clauses, verb phrases and objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import (
    EXPLETIVE,
    PARTICIPIAL,
    Clause,
    find_clause,
    is_comma,
    is_said_together,
)
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.words import FINITE, Word, WordClass, tag_words

_JOINS_CLAUSES = frozenset({"and", "but", "while", "whereas", "yet", "so"})
_STOPS_SCAN = frozenset({"that", "because", "where", "when", "how", "why", "what", "although", "though", "if"})
_OPENS_SUBJECT: frozenset[WordClass] = frozenset({"determiner", "possessive", "name", "other", "number"})
_OPENS_OBJECT: frozenset[WordClass] = frozenset(
    {"determiner", "possessive", "preposition", "pronoun", "adverb", "name"}
)
_PLACED = frozenset({"lies", "stands", "rises", "flows", "runs", "ends", "begins", "belongs", "consists"})
"""Forms in -s that are hardly ever nouns before a preposition."""

_MOST_STOPS = 20
"""Semicolons and colons of a sentence; one with more is a list."""
_WITH_OF = frozenset({"consists", "consisted"})
_DEGREES = frozenset({"best", "better", "well", "more"})
_FRACTIONS = frozenset({"half", "third", "quarter", "bit"})
_MEASURES = word_set(
    "second minute hour day night week month year decade century inch foot yard mile metre meter kilometre kilometer "
    "ounce pound stone gram kilogram kilo ton tonne pint litre liter gallon dozen hundred thousand million billion"
)
_VERBAL: frozenset[WordClass] = PARTICIPIAL | {"past", "present", "base"}


def split_clauses(text: str) -> list[str]:
    """*A was built in 1900, and B burnt down in 1950* is two claims. A pronoun that opens the second clause is replaced
    by the subject of the first where it can stand for nothing else."""
    words = tag_words(text)
    first = find_clause(words)
    stop = _stop_between_clauses(words, first)
    if stop is not None:
        rest = text[words[stop + 1].start :]
        if first is not None and first.verb < stop:  # else its subject goes on behind the stop
            rest = _name_subject(rest, _subject(text, words, first))
        return [*split_clauses(text[: words[stop].start].rstrip()), *split_clauses(rest)]
    if first is None:
        return [text]
    for index in range(first.verb + 1, len(words) - 2):
        word = words[index]
        if word.enclosed or word.lower not in _JOINS_CLAUSES:
            continue
        if word.lower == "so" and not is_comma(words[index - 1]):
            continue  # *so* of purpose or degree
        if word.lower in {"while", "whereas"} and not is_comma(words[index - 1]):
            continue  # *while* of time
        if _opens_clause(words, index):
            cut = words[index - 1].start if is_comma(words[index - 1]) else word.start
            rest = text[words[index + 1].start :]
            return [text[:cut].rstrip(), *split_clauses(_name_subject(rest, _subject(text, words, first)))]
    return [text]


def _stop_between_clauses(words: Sequence[Word], first: Clause | None) -> int | None:
    """The first semicolon with a clause behind it, or the first colon between two clauses."""
    stops = [index for index, word in enumerate(words) if word.text in {";", ":"} and not word.enclosed]
    if len(stops) > _MOST_STOPS:
        return None
    for index, following in pairwise([*stops, len(words)]):
        clause = find_clause(words, index + 1) if index + 2 < len(words) else None
        if clause is None or clause.verb > following:
            continue  # an item of a list
        if words[index].text == ";" or (
            first is not None and first.verb < index and _is_statement(words, index, clause)
        ):
            return index
    return None


def _is_statement(words: Sequence[Word], colon: int, clause: Clause) -> bool:
    """Whether what follows a colon is a clause of its own, not a list: *The rule is strict: guests pay*."""
    head = words[clause.subject]
    introduces = words[colon - 1].lower in {"following", "follows", "are", "is", "include", "includes", "this", "these"}
    is_title = any(is_comma(word) for word in words[colon : clause.verb])  # *in Snipers: Invisible Warriors, and is*
    if clause.subject != colon + 1 or introduces or is_title:
        return False
    return head.word_class in _OPENS_SUBJECT | {"pronoun"}


def _opens_clause(words: Sequence[Word], joint: int) -> bool:
    """Whether a subject with a verb of its own follows the conjunction."""
    clause = find_clause(words, joint + 1)
    if clause is None or clause.subject != joint + 1 or clause.verb - clause.subject > 9:
        return False
    head, gap = words[joint + 1], words[joint + 1 : clause.verb]
    if any(is_comma(word) or word.word_class in {"relative", "subordinator", "conjunction"} for word in gap):
        return False
    if head.lower in lexicon.SUBJECT_PRONOUNS:
        return True
    separated = is_comma(words[joint - 1]) or words[joint].lower in {"while", "whereas", "but"}
    separated = separated or (words[joint - 1].word_class == "number" and head.word_class == "name")
    verb = words[clause.verb]
    singular = verb.lower in {"is", "was", "has", "had", "can", "will"}
    bound = any(word.lower in {"that", "who", "which", "between"} for word in words[:joint])
    separated = separated or (head.word_class == "name" and singular and not bound)
    if any(word.word_class == "pronoun" for word in gap):
        return False  # *the alienation it produced* is a noun phrase
    if verb.word_class == "present" and head.word_class == "other":
        return False  # *television shows*, *lifestyle changes*
    following = words[clause.verb + 1].lower if clause.verb + 1 < len(words) else ""
    names = verb.lower in {"named", "called", "titled"} or (verb.word_class == "ed" and following == "of")
    certain = verb.word_class in FINITE or not any(word.word_class == "preposition" for word in gap)
    return separated and certain and not names and head.word_class in _OPENS_SUBJECT


def _subject(text: str, words: Sequence[Word], clause: Clause) -> str:
    end = clause.verb
    while end > clause.subject + 1 and (words[end - 1].word_class == "adverb" or is_comma(words[end - 1])):
        end -= 1
    return text[words[clause.subject].start : words[end - 1].end]


def _name_subject(clause: str, subject: str) -> str:
    if len(subject.split()) > 6 or subject.lower() in lexicon.PRONOUNS or "," in subject:
        return clause
    head, _, rest = clause.partition(" ")
    plural = " and " in subject or (subject.endswith("s") and not subject[0].isupper()) or subject.startswith("These")
    if EXPLETIVE.match(clause):
        return clause
    fits = {"it": not plural, "they": plural}
    return f"{subject} {rest}" if fits.get(head.lower(), False) else clause


def split_verb_phrases(text: str) -> list[str]:
    """*X was born in A, studied at B and founded C* is three claims with the subject repeated. A date that leads the
    sentence goes with each of them, unless a later one has a date of its own."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None:
        return [text]
    starts = _verb_phrase_starts(words, clause)
    if not starts or any(words[joint - 1].word_class == "preposition" for joint, _ in starts):
        return [text]  # *starred in and produced A*: the object belongs to both
    if any(word.lower in {"that", "who", "which"} for word in words[clause.subject : clause.verb]):
        return [text]  # a further verb may belong to the relative clause
    subject = _subject(text, words, clause)
    lead = text[: words[clause.subject].start]
    bounds = [joint for joint, _ in starts]
    claims = [text[: words[bounds[0]].start].rstrip(" ,")]
    for position, (_, begin) in enumerate(starts):
        end = words[bounds[position + 1]].start if position + 1 < len(bounds) else len(text)
        phrase = text[words[begin].start : end].rstrip(" ,")
        own_lead = lead if re.search(r"\d", lead) and not re.search(r"\d", phrase) else ""
        claims.append(f"{own_lead}{subject} {_auxiliary(text, words, clause, begin)}{phrase}")
    return claims


def _verb_phrase_starts(words: Sequence[Word], clause: Clause) -> list[tuple[int, int]]:
    """Pairs (index of the comma or conjunction before a further verb phrase, index of its first word)."""
    found: list[tuple[int, int]] = []
    pending: list[tuple[int, int]] = []
    index = clause.main + 1
    while index < len(words) - 1:
        word = words[index]
        if not word.enclosed and (
            word.word_class == "relative" or (word.lower in _STOPS_SCAN and not is_comma(words[index - 1]))
        ):
            break
        if not word.enclosed and (is_comma(word) or word.lower in {"and", "but"}):
            begin, is_last = _after_joint(words, index)
            verb = _skip_adverbs(words, begin)
            if is_comma(word) and words[begin].lower.endswith("ing"):
                break  # *…, having written A and directed B* hangs on what was said before
            shared = words[index - 1].word_class in _VERBAL  # *born and raised in A*: what follows belongs to both
            if not shared and _is_further_verb(words, clause, verb, after_comma=is_comma(word) and not is_last):
                pending.append((index, begin))
                if is_last:
                    found, pending = [*found, *pending], []
                index = verb
        index += 1
    return found


def _after_joint(words: Sequence[Word], joint: int) -> tuple[int, bool]:
    """First word after a comma, a conjunction or both, and whether a conjunction marks it as the last of its series."""
    if is_comma(words[joint]) and words[joint + 1].lower in {"and", "but", "then"}:
        return min(joint + 2, len(words) - 1), True
    return joint + 1, not is_comma(words[joint])


def _skip_adverbs(words: Sequence[Word], index: int) -> int:
    while index < len(words) - 1 and (words[index].word_class == "adverb" or words[index].lower in _DEGREES):
        index += 1
    return index


def _is_further_verb(words: Sequence[Word], clause: Clause, index: int, *, after_comma: bool) -> bool:
    if index >= len(words) - 1:
        return False
    word, following = words[index], words[index + 1]
    first = words[clause.verb].word_class
    if word.word_class in {"auxiliary", "modal", "past"}:
        return True
    if following.lower == "of" and word.lower not in _WITH_OF:
        return False  # *inputs and states of a model*
    if word.word_class == "present":
        if following.word_class in {"determiner", "possessive"} or word.lower in _PLACED:
            return True
        return first == "present" or words[clause.verb].lower in {"is", "has", "does", "was", "can", "are"}
    if word.word_class == "participle":
        return words[clause.verb].lower in lexicon.AUXILIARIES and clause.main != clause.verb and not after_comma
    if word.word_class == "ed":
        if clause.main == clause.verb and (following.lower == "by" or first == "modal"):
            return False
        return following.word_class != "other" or _takes_bare_noun(words, index)
    governed = any(earlier.lower == "to" for earlier in words[clause.main : index])
    opens_object = following.word_class in _OPENS_OBJECT
    return word.lower in lexicon.VERBS and first in {"modal", "base"} and not governed and opens_object


def _takes_bare_noun(words: Sequence[Word], index: int) -> bool:
    """*wrote novels and published papers*, but not *classic and established writers*."""
    joint = index - 1
    while joint > 1 and (words[joint].word_class in {"adverb", "conjunction"} or is_comma(words[joint])):
        joint -= 1
    before = words[joint]
    after_adjective = before.word_class == "other" and not before.lower.endswith("s")
    verb = words[index].lower
    if verb in lexicon.PAST_OR_PARTICIPLE | lexicon.INTRANSITIVE:
        return True  # *lectured on chemistry and taught botany*: hardly ever an adjective
    return _is_known_verb(verb) and not (after_adjective and words[index - 1].lower == "and")


def _is_known_verb(lower: str) -> bool:
    stems = {lower[:-2], lower[:-1], lower[:-3], f"{lower[:-3]}y"}  # played, served, planned, studied
    return lower in lexicon.PAST_OR_PARTICIPLE or not stems.isdisjoint(lexicon.VERBS)


def _auxiliary(text: str, words: Sequence[Word], clause: Clause, begin: int) -> str:
    """The auxiliary that a further verb phrase takes over: *was* for a passive, *has* for a perfect, a modal."""
    verb = _skip_adverbs(words, begin)
    word, first = words[verb], words[clause.verb]
    if clause.main == clause.verb and first.lower in lexicon.BE and words[verb + 1].word_class == "preposition":
        is_state = word.word_class in PARTICIPIAL and word.lower not in lexicon.INTRANSITIVE
        return f"{first.text} " if is_state else ""  # *is small and limited to A*
    if clause.main == clause.verb or word.word_class not in PARTICIPIAL | {"base", "other"}:
        return f"{first.text} " if first.word_class == "modal" and word.lower in lexicon.VERBS else ""
    group = text[first.start : words[clause.main].start]
    if word.word_class == "participle" or first.word_class == "modal":
        return group
    if first.lower in {"has", "have", "had"} and words[clause.verb + 1].lower != "been":
        return group
    is_passive = first.lower in lexicon.BE or words[clause.verb + 1].lower == "been"
    if not is_passive or (word.lower in lexicon.INTRANSITIVE and words[verb + 1].lower != "by"):
        return ""
    if words[clause.main].lower == "born":
        return group if word.lower in lexicon.PASSIVE_BY_HABIT else ""
    following = words[verb + 1]
    takes_object = following.word_class in {"determiner", "possessive", "name", "other", "pronoun"}
    return "" if takes_object else group


def _is_one_measure(noun: Word, second: Sequence[Word]) -> bool:
    """*a mile and a half*, *a year and a day*: one length or time, said in two units; *a minute hand* is none."""
    if noun.lower not in _MEASURES or not second or second[0].lower not in _FRACTIONS | _MEASURES:
        return False
    return all(word.word_class not in {"other", "name", "number"} for word in second[1:2])


def split_objects(text: str) -> list[str]:
    """*X holds a degree in A from B and a doctorate from C* is two claims: objects that each have an article."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None or is_said_together(text):
        return [text]
    articles = [
        i for i in range(clause.main + 1, len(words)) if words[i].lower in {"a", "an"} and not words[i].enclosed
    ]
    joints = [i for i in articles[1:] if words[i - 1].lower == "and"]
    if not articles or len(joints) != 1:
        return [text]
    first, second = articles[0], joints[0]
    if _is_one_measure(words[first + 1], words[second + 1 :]):
        return [text]
    between, after = words[first + 1 : second - 1], words[second + 1 :]
    if first - clause.main > 2 or any(
        is_comma(word) or word.lower in {"who", "which", "that", "and", "or"} or word.word_class in FINITE
        for word in (*between, *after)
    ):
        return [text]
    return (
        [text[: between[-1].end], f"{text[: words[first].start]}{text[words[second].start :]}"] if between else [text]
    )
