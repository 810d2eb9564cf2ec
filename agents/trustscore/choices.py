"""Plans the questions for TrustBC, and reads the chosen option and each letter's probability from a reply.

A reply that does not clearly choose exactly one option counts as no choice.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import cast

from factloop.agents.trustscore.records import Letter, Option, OptionKind
from factloop.tools.models.logprobs import probabilities
from factloop.tools.models.wire import ReplyToken

DISTRACTORS_A_CHECK = 3
NONE_OF_THE_ABOVE = "None of the above."
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")


def plan_checks(
    response: str, distractors: Sequence[str], *, max_checks: int, rng: random.Random
) -> list[tuple[Option, ...]]:
    """Plans up to `max_checks` questions with the response, three distractors and, last, "None of the above".

    No distractor is shown twice (paper, section 2.1), so each question uses three new ones. The best distractors are
    used, in random order. The response appears about equally often in each of the first four positions.
    """
    n_checks = min(max_checks, len(distractors) // DISTRACTORS_A_CHECK)
    drawn = rng.sample(range(DISTRACTORS_A_CHECK * n_checks), DISTRACTORS_A_CHECK * n_checks)
    triples = [drawn[first : first + DISTRACTORS_A_CHECK] for first in range(0, len(drawn), DISTRACTORS_A_CHECK)]
    places = _balanced_places(n_checks, rng)
    return [_options(response, distractors, triple, place) for triple, place in zip(triples, places, strict=True)]


def _balanced_places(n: int, rng: random.Random) -> list[int]:
    """Every four checks use each position from 0 to 3 once, so a subject that always answers A fails."""
    places: list[int] = []
    while len(places) < n:
        places += rng.sample(range(DISTRACTORS_A_CHECK + 1), DISTRACTORS_A_CHECK + 1)
    return places[:n]


def _options(response: str, distractors: Sequence[str], triple: Sequence[int], place: int) -> tuple[Option, ...]:
    ordered: list[int | None] = [*triple[:place], None, *triple[place:]]
    shown = [
        Option(letter=letter, text=response, kind=OptionKind.RESPONSE)
        if number is None
        else Option(letter=letter, text=distractors[number], kind=OptionKind.DISTRACTOR, distractor=number)
        for letter, number in zip(LETTERS, ordered, strict=False)
    ]
    return (*shown, Option(letter=LETTERS[-1], text=NONE_OF_THE_ABOVE, kind=OptionKind.NONE_OF_THE_ABOVE))


THINKING_BEGINS, THINKING_ENDS = "<think>", "</think>"
_MARKUP = re.compile(r"</?[A-Za-z]{2,20}>|</s>|<\|[^|<>]{1,40}\|>")
"""Matches tags, including special tokens that some servers fail to remove. A letter in angle brackets is not a tag."""
_LATEX = re.compile(r"\\(?:[A-Za-z]{1,20}(?=\{)|[()\[\]])")
_DRESS_MARKS = str.maketrans(dict.fromkeys('"“”„«»*`_$[]{}<>', " ") | dict.fromkeys("’‘", "'"))
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_QUOTES = re.compile(r"(?<!\w)'|'(?!\w)")
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*(?:[-•#]+ )?")
_BULLET = re.compile(r"\A[-•#]+ ")
_BEFORE_MARK = re.compile(r" ([.,:;!?)])")
_WORDS = re.compile(r"\w+")
LONGEST_READ = 20_000
"""Maximum number of characters to read from the end of a reply, where a reasoning model gives its answer."""

# Quotes, brackets, emphasis and repeated spaces are removed before these patterns are matched.
_LETTER = r"\(? ?([A-E]) ?\)?"
_NAMING_WORDS = r"(?:answer|choice|option|letter)(?: (?:is|would be|should be|must be))? ?[:=]?\s?(?:the )?(?:option )?"
_BARE = re.compile(
    rf"(?:(?:the|my) )?(?:(?:final|correct|right|best) )?(?:{_NAMING_WORDS})?{_LETTER}[.:,;!。]?", re.IGNORECASE
)
_LABEL = re.compile(r"\(?([A-Ea-e])(?:\)|[.:,]| [-–—]|)\s(\S.*)", re.DOTALL)
"""Matches a letter followed by words. It may be an initial ("C. S. Lewis"), an article, or the A of "Q: ... A: ..."."""
_REASON = frozenset({"because", "since"})
_NAMED = re.compile(
    rf"\b(?i:{_NAMING_WORDS}|I(?:'d| would|'ll| will)? (?:choose|pick|select|say|go with) (?:option )?){_LETTER}"
    r"(?!\w|'\w)(?! ?(?:,|/|&|or\b|and\b) ?\(?[A-E]\b)"
    r"(?!(?<=A) (?!because|since|as|is|for|but|and|with|answer|choice|option)[a-z])"
)
"""Matches the letter that a sentence names as the answer, unless it is the article *a*."""
_SAID = re.compile(rf"\b(?:it|that)(?: is|'s) (?:option )?{_LETTER}(?=[.!]?(?:\n|\Z))", re.IGNORECASE)
"""Matches a letter named at the end of a line, as in a reply that corrects itself: *The answer is C. Wait, it is B.*"""
_DENIED = re.compile(r"\b(?:not|isn't|cannot|can't|never|neither|nor|wrong|incorrect|unlikely)\b", re.IGNORECASE)
_LABELLED = re.compile(r"(?<![\w'])\(?([A-E])(?:\)|\.(?=\s|$)|:(?=\s))")
_NONE_OF_THEM = re.compile(
    r"none of (?:these|them|the (?:above|others|options|answers|choices|statements))"
    r"(?: (?:is|are) (?:correct|right|true))?[.!]?",
    re.IGNORECASE,
)
_AROUND_LETTER = re.compile(r"[\W_]+")
_NAMING = re.compile(r"(?:answer|choice|option)\W*(?:is\W*)?\Z", re.IGNORECASE)
LONGEST_NAMING = 40


def read_choice(reply: str, options: Sequence[Option]) -> Letter | None:
    """Returns the letter of the one option that the reply chooses, or None.

    The reply may be a letter in any formatting ("C", "(c)", "**C**", "Answer: C"), alone or followed by the option's
    text or a reason. It may also be an option's text without its letter, or reasoning that names one letter as the
    answer or ends with a line that is only a letter.
    """
    said = after_thinking(reply)[-LONGEST_READ:].strip()
    text = undressed(said)
    first, _, rest = text.partition("\n")
    if rest and (opening := _bare(first)):  # a base model may continue with questions that it makes up
        found = opening if _mentioned(rest) <= {opening} else None
    else:
        found = _bare(text) or _leading(text, options) or _by_text(said, text, options) or _concluded(text)
    return found if found in {option.letter for option in options} else None


def _bare(text: str) -> Letter | None:
    match = _BARE.fullmatch(text)
    return cast(Letter, match[1].upper()) if match else None


def _leading(text: str, options: Sequence[Option]) -> Letter | None:
    match = _LABEL.match(text)
    chosen = next((option for option in options if match and option.letter == match[1].upper()), None)
    if match is None or chosen is None:
        return None
    said, own = f" {plain_words(match[2])} ", f" {plain_words(chosen.text)} "
    beyond = said.replace(own, " ", 1)
    others = {f" {plain_words(option.text)} " for option in options} - {own}
    is_alone = not any(other.startswith(said) or other in (said if own in other else beyond) for other in others)
    letters = {*_LABELLED.findall(match[2].replace(undressed(chosen.text), " ")), *_names(match[2])}
    begins = said.startswith(own) or own.startswith(said) or said.split(" ")[1] in _REASON
    return chosen.letter if begins and is_alone and letters <= {chosen.letter} else None


def _by_text(said: str, text: str, options: Sequence[Option]) -> Letter | None:
    if _NONE_OF_THEM.fullmatch(text):
        return next((option.letter for option in options if option.kind is OptionKind.NONE_OF_THE_ABOVE), None)
    words = plain_words(text)
    same = [option for option in options if option.text.strip() == said] or [
        option for option in options if words and plain_words(option.text) == words
    ]
    return same[0].letter if len(same) == 1 else None


def _concluded(text: str) -> Letter | None:
    before, _, last = text.rpartition("\n")
    named = set(_names(text))
    if named:
        return named.pop() if len(named) == 1 else None
    return _bare(last) if before and not any(map(_bare, before.splitlines())) else None


def _names(text: str) -> Iterator[Letter]:
    for match in (*_NAMED.finditer(text), *_SAID.finditer(text)):
        sentence = max(text.rfind(mark, 0, match.start(1)) for mark in ".!?\n") + 1
        if not _DENIED.search(text, sentence, match.end()):
            yield cast(Letter, match[1].upper())


def _mentioned(text: str) -> set[str]:
    bare = {_bare(line) for line in text.splitlines()}
    return {*_LABELLED.findall(text), *_names(text), *(letter for letter in bare if letter)}


def letter_probabilities(tokens: Sequence[ReplyToken], chosen: Letter) -> Mapping[Letter, float] | None:
    """Returns the probability of each letter at the token that states the choice, or None if there is no such token.

    Adds up the forms of a letter ("C", " C"). If several tokens are the chosen letter, uses the one at the start of the
    reply, or else the one named as the answer, or else the last one.
    """
    place = _place_of(tokens, chosen)
    if place is None:
        return None
    shares = probabilities(tokens[place])
    found: dict[Letter, float] = {}
    for letter in LETTERS:
        forms = [share for text, share in shares.items() if _bare_letter(text).upper() == letter]
        if forms:
            found[letter] = min(sum(forms), 1.0)
    return found if chosen in found else None


def _place_of(tokens: Sequence[ReplyToken], chosen: Letter) -> int | None:
    ends = list(accumulate(len(token.text) for token in tokens))
    text = "".join(token.text for token in tokens)
    thought = text.rfind(THINKING_ENDS) + len(THINKING_ENDS) if THINKING_ENDS in text else 0
    said = [place for place, end in enumerate(ends) if end > thought]
    # A lowercase letter counts only if there is no capital: "a" is an article more often than a choice.
    places = [place for place in said if _bare_letter(tokens[place].text) == chosen] or [
        place for place in said if _bare_letter(tokens[place].text).upper() == chosen
    ]
    if not places:
        return None
    if not any(_bare_letter(tokens[place].text) for place in said if place < places[0]):
        return places[0]
    starts = {place: ends[place] - len(tokens[place].text) for place in places}
    named = [at for at, start in starts.items() if _NAMING.search(text[max(start - LONGEST_NAMING, thought) : start])]
    return (named or places)[-1]


def _bare_letter(text: str) -> str:
    return _AROUND_LETTER.sub("", text) if len(text) < 8 else text


def after_thinking(reply: str) -> str:
    """Removes the reasoning at the start of a reply. Returns an empty string if the reasoning never ends."""
    said = reply.rpartition(THINKING_ENDS)[2].strip()
    return "" if said.startswith(THINKING_BEGINS) else said


def undressed(text: str) -> str:
    """Removes quotes, brackets (except round ones), emphasis, tags, bullets and empty lines.

    The result has no two spaces in a row, so patterns need to allow for only one and take linear time.
    """
    shown = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    bare = _QUOTES.sub(" ", _LATEX.sub("", _MARKUP.sub(" ", shown)).translate(_DRESS_MARKS))
    lines = _LINES.sub("\n", _SPACES.sub(" ", bare)).strip()
    return _BEFORE_MARK.sub(r"\1", _BULLET.sub("", lines))


@lru_cache(maxsize=512)
def plain_words(text: str) -> str:
    return " ".join(_WORDS.findall(unicodedata.normalize("NFKC", text).casefold()))
