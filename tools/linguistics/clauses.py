"""Subject, verb and boundaries of a clause, found by word classes alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.words import FINITE, NOMINAL, Word, WordClass

EXPLETIVE = re.compile(
    r"\bit (?:is|was|has been|can be|may be|would be|seems|appears|remains|became)(?: \w+){0,2}"
    r" (?:that|whether|how|when"
    r"|(?:important|essential|necessary|possible|hard|difficult|easy|best|recommended|common) to)\b"
    r"|\bit (?:rains|rained|snows|(?:takes|took) (?:\w+ ){0,3}(?:time|minutes?|hours?|days?|weeks?|months?|years?))\b",
    re.IGNORECASE,
)
"""*It* that stands for nothing: *it is known that*."""

_TOGETHER = re.compile(
    r"\b(?:among|between|both|combination|mix(?:ture)?|consist|compris|combin|compar|blend|pair|either|same|together"
    r"|link|connect|merg|unit(?:es|ed|ing)\b(?! (?:states|kingdom|nations|arab))|divid|separat|join(?:s|ed|t)\b|marri"
    r"|jointly|respectively|versus|not|never|only|neither)",
    re.IGNORECASE,
)

_UNITS = frozenset({"days", "weeks", "months", "years", "decades", "day", "week", "month", "year", "decade"})
_LONGEST_LEAD = 9
"""Words of a lead without a comma."""
_PERSONAL_SUBJECTS = frozenset({"i", "he", "she", "we", "they"})
_NOUN_LINKS = frozenset({"of", "de", "von", "van", "der", "del", "la", "al", "bin"})
_OPENS_SUBJECT: frozenset[WordClass] = frozenset({"determiner", "possessive", "pronoun", "name", "number"})
PARTICIPIAL: frozenset[WordClass] = frozenset({"ed", "participle"})
_POINTS_OUT = re.compile(r"(?:here|there|that|this|what|who|where|how)['’]s")
"""A subject and its verb in one word: *Here's what I found*, whose next verb is that of a clause within."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Indices into the words of a sentence: adverbial lead, subject, verb group."""

    subject: int
    """First word of the subject."""
    verb: int
    """First word of the verb group; adverbs between subject and verb stand before it."""
    main: int
    """The word that carries the meaning: *born* in *was born*; equals `verb` where there is no auxiliary."""


@lru_cache(maxsize=4096)
def find_clause(words: tuple[Word, ...], first: int = 0) -> Clause | None:
    """The main clause that begins at `first`; None where the rules see no subject or no verb.

    Cached: each rule that splits a sentence asks for it."""
    if first >= len(words):
        return None
    subject = _subject_start(words, first)
    if _POINTS_OUT.fullmatch(words[subject].lower):
        return None
    verb = finite_verb(words, subject)
    if verb is None or verb == subject:
        return None
    main = verb
    if words[verb].word_class in {"auxiliary", "modal"}:
        main = next(
            (
                index
                for index in range(verb + 1, min(verb + 5, len(words)))
                if words[index].word_class in PARTICIPIAL | {"base"} and words[index].lower not in {"be", "been"}
            ),
            verb,
        )
        if any(words[index].word_class not in {"adverb", "auxiliary"} and words[index].lower not in {"been", "be"}
               for index in range(verb + 1, main)):  # fmt: skip
            main = verb
    return Clause(subject, verb, main)


def finite_verb(words: Sequence[Word], first: int) -> int | None:
    """Index of the first finite verb of the clause that begins at `first`, relative clauses skipped."""
    index, candidate = first, None
    while index < len(words):
        word = words[index]
        if word.enclosed:
            index += 1
            continue
        if word.word_class == "relative" or (word.lower == "that" and index > first):
            after = _relative_end(words, index)
            if after is None:
                break
            index = after
            continue
        if candidate is None and index > first + 1 and is_comma(words[index - 1]) and word.word_class in PARTICIPIAL:
            close = relative_close(words, index - 1, must_close=True)
            if close is not None:  # *The mill, opened in 1901, closed in 1950*
                index = close + 1
                continue
        if word.word_class in FINITE:
            is_participle = candidate is not None and (
                words[candidate + 1].lower in {"by", "in", "at", "on"}
                or (word.word_class in {"auxiliary", "modal"} and words[candidate].lower not in lexicon.REPORTING)
            )
            return index if candidate is None or is_participle else candidate
        if word.word_class == "base" and index > first and words[index - 1].lower not in {"to", "and"}:
            return index if candidate is None else candidate
        if word.word_class == "ed" and candidate is None and index > first and index + 1 < len(words):
            if words[index + 1].lower != "by":
                candidate = index
        elif candidate is not None and (word.word_class in {"subordinator", "conjunction"} or word.text in {",", ";"}):
            return candidate
        index += 1
    return candidate


def is_said_together(text: str) -> bool:
    """Whether what is said of several things may be true of them together, and not of each."""
    return _TOGETHER.search(text) is not None


def is_comma(word: Word) -> bool:
    return word.text == "," and not word.enclosed


def noun_phrase_start(words: Sequence[Word], end: int, floor: int) -> int:
    """Index at which the noun phrase that ends before `end` begins; `end` itself where there is none."""
    start = end
    while start > floor:
        word = words[start - 1]
        links = word.lower in _NOUN_LINKS and start - 1 > floor and words[start - 2].word_class in NOMINAL
        if word.enclosed or (word.word_class not in NOMINAL | PARTICIPIAL and not links):
            break
        if word.word_class in PARTICIPIAL and start == end:
            break
        start -= 1
        if word.word_class in {"determiner", "possessive"} and not (
            start > floor and words[start - 1].lower in _NOUN_LINKS
        ):
            break
    while start < end and words[start].word_class in PARTICIPIAL:
        start += 1
    return start


def relative_close(words: Sequence[Word], relative: int, *, must_close: bool) -> int | None:
    """Index of the comma that closes a relative clause, `len(words)` (or the final stop) where it runs to the end.

    With `must_close` the main verb is still to come, so that a comma followed by a finite verb has to be found; without
    it the clause may still stand inside another: *…, as potatoes, which are cheap, did not arrive*."""
    end = len(words) - 1 if words[-1].text in {".", "!"} else len(words)
    seen_verb = False
    for index in range(relative + 1, len(words) - 1):
        seen_verb = seen_verb or words[index].word_class in FINITE | PARTICIPIAL | {"base"}
        if seen_verb and is_comma(words[index]) and _starts_verb(words, index + 1, certain=not must_close):
            return index
    return None if must_close else end


def _starts_verb(words: Sequence[Word], index: int, *, certain: bool) -> bool:
    while index < len(words) and words[index].word_class == "adverb":
        index += 1
    classes: frozenset[WordClass] = frozenset({"auxiliary", "modal", "past"}) if certain else FINITE | {"ed", "base"}
    return index < len(words) and words[index].word_class in classes


def _relative_end(words: Sequence[Word], relative: int) -> int | None:
    """First word after a relative clause inside the subject."""
    if relative > 0 and is_comma(words[relative - 1]):
        close = relative_close(words, relative, must_close=True)
        return None if close is None else close + 1
    verbs = [i for i in range(relative + 1, len(words)) if words[i].word_class in FINITE | {"ed", "base"}]
    later = [i for i in verbs[1:] if words[i].word_class in FINITE and words[i - 1].word_class not in {"conjunction"}]
    return later[0] if later and later[0] > verbs[0] + 1 else None


def _subject_start(words: Sequence[Word], first: int) -> int:
    """Skips an adverbial lead that a comma closes: *In 1905, …*, *Born in Ulm, …*, *After the war, …*."""
    head = words[first]
    opens_lead = head.word_class in {"preposition", "adverb", "ed", "participle", "subordinator"} or (
        head.lower in lexicon.PREPOSITIONS | lexicon.SUBORDINATORS | {"born", "known", "according", "founded", "as"}
        or head.lower.endswith("ing")
    )
    unmarked = _unmarked_lead_end(words, first) if opens_lead or head.word_class == "number" else None
    if unmarked is not None:
        return unmarked
    if not opens_lead:
        return first
    for index in range(first + 1, len(words) - 2):
        if not is_comma(words[index]):
            continue
        following = words[index + 1]
        if words[index - 1].word_class == "number" and following.word_class == "number":
            continue  # October 16, 1898
        if following.lower == "such":
            continue
        if following.word_class in _OPENS_SUBJECT or following.word_class == "other":
            verb = finite_verb(words, index + 1)
            gap = words[index + 1 : verb] if verb is not None else ()
            if verb is not None and not any(is_comma(word) for word in gap[:3]):
                return index + 1
    return first


def _unmarked_lead_end(words: Sequence[Word], first: int) -> int | None:
    """The subject after a lead that no comma closes: *During the war she worked*, *In 1919 an explosion*, *Four years
    later the mill burnt down*; None where there is no such lead."""
    for index in range(first + 1, min(first + _LONGEST_LEAD, len(words) - 1)):
        word, before = words[index], words[index - 1]
        if word.lower in _PERSONAL_SUBJECTS or (word.lower == "it" and before.word_class in NOMINAL):
            return index if words[first].word_class != "subordinator" else None
        if word.enclosed or is_comma(word) or word.word_class in FINITE | {"relative", "subordinator", "conjunction"}:
            return None
        after_time = before.word_class == "number" or before.lower in {"later", "earlier"}
        if after_time and word.word_class in {"determiner", "possessive", "name"}:
            return index if _is_time(words[first:index]) else None
    return None


def _is_time(words: Sequence[Word]) -> bool:
    """*In 1919*, *On 3 May 1919*, *Four years later*, but not *In seven of the ten*."""
    if words[-1].lower in {"later", "earlier"}:
        return any(word.lower in _UNITS for word in words)
    inner = words[1:]
    return (
        words[0].word_class == "preposition"
        and all(word.word_class == "number" or word.lower in lexicon.NAME_STOP for word in inner)
        and words[-1].text.isdigit()
        and len(words[-1].text) == 4
    )
