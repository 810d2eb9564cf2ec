"""Plans the questions of a TrustBC, and reads which option a reply chooses and how probable each letter was.

Without exactly one clear choice a reply chooses no option; nothing is guessed. Replies are undressed before they are
read: no quotes, emphasis, markup or odd spaces.
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
    """The options of at most `max_checks` questions: the response, three distractors and "None of the above" last.

    No distractor is shown twice (paper, section 2.1), the best are shown: three fewer of them make one question less.
    The response stands in each of the four places equally often, give or take one.
    """
    n_checks = min(max_checks, len(distractors) // DISTRACTORS_A_CHECK)
    drawn = rng.sample(range(DISTRACTORS_A_CHECK * n_checks), DISTRACTORS_A_CHECK * n_checks)
    triples = [drawn[first : first + DISTRACTORS_A_CHECK] for first in range(0, len(drawn), DISTRACTORS_A_CHECK)]
    places = _balanced_places(n_checks, rng)
    return [_options(response, distractors, triple, place) for triple, place in zip(triples, places, strict=True)]


def _balanced_places(n: int, rng: random.Random) -> list[int]:
    """A place from 0 to 3 for each check: every four in a row take all four, so no letter alone passes two checks."""
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
"""Tags and the special tokens that some servers leave in; one letter in angle brackets is no tag."""
_LATEX = re.compile(r"\\(?:[A-Za-z]{1,20}(?=\{)|[()\[\]])")
_DRESS_MARKS = str.maketrans(dict.fromkeys('"“”„«»*`_$[]{}<>', " ") | dict.fromkeys("’‘", "'"))
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Marks that show nothing: joiners, directions, soft hyphens."""
_QUOTES = re.compile(r"(?<!\w)'|'(?!\w)")
"""Apostrophes that stand in no word."""
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*(?:[-•#]+ )?")
_BULLET = re.compile(r"\A[-•#]+ ")
_BEFORE_MARK = re.compile(r" ([.,:;!?)])")
_WORDS = re.compile(r"\w+")
LONGEST_READ = 20_000
"""Characters of a reply that are looked at, from its end: a reasoning model's answer comes last."""

# Texts are undressed before they are matched: no quotes, brackets or emphasis, and never two spaces in a row.
_BARE = re.compile(r"(?:the )?(?:(?:option|letter|choice) )?\(? ?([A-E]) ?\)?[.:,;!。]?", re.IGNORECASE)
"""The letter and nothing else."""
_LABEL = re.compile(r"\(?([A-Ea-e])(\)|[.:,]| [-–—]|)\s(\S.*)", re.DOTALL)
"""A letter, its mark, and words after it."""
_SURE_MARK = ")"
"""After any other mark the letter may be an initial ("C. S. Lewis"), an article, or the A of "Q: ... A: ..."."""
_REASON = frozenset({"because", "since"})
_LETTER = r"\(? ?((?-i:[A-E])|[a-e](?=[.)!]*\Z)) ?\)?(?!\w|'\w)(?! ?(?:,|/|&|or\b|and\b) ?\(?[A-E]\b)"
"""A small letter only at the end of all."""
_NAMED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:answer|choice|option|selection|pick|letter|statement)(?: (?:is|would be|should be|must be))?"
        rf" ?[:=]?\s?(?:the )?(?:(?:option|letter) )?{_LETTER}",
        r"\bI(?: would| will|'ll|'d| am going to|'m going to)? (?:choose|pick|select|go with)"
        rf" (?:the )?(?:(?:option|letter) )?{_LETTER}",
        rf"\bI(?:(?: would|'d) say|(?: am|'m) going with) (?:the )?(?:(?:option|letter) )?{_LETTER}",
        rf"\b(?:therefore|thus|hence|so),?\s(?:the )?(?:(?:option|letter) )?{_LETTER}",
        rf"(?:\A|[.!?:;\n] ?|\b(?:that|only|believe|think) )(?:option |letter )?{_LETTER} (?:is|seems) (?:the )?"
        r"(?:correct|right|true|best)\b",
        rf"\b(?:it|that)(?: is|'s) (?:(?:option|letter) )?{_LETTER}(?=[.!]?(?:\n|\Z))",
    )
)
"""The letter that a sentence names as the answer."""
_ARTICLE = re.compile(
    r" (?!because|since|as|is|seems|for|due|given|but|and|with|or\b|then\b|answer\b|choice\b|option\b)[a-z]"
)
"""After the letter A: it was the article."""
_DENIED = re.compile(r"\b(?:not|isn't|cannot|can't|never|neither|nor|wrong|incorrect|unlikely)\b", re.IGNORECASE)
_LABELLED = re.compile(r"(?<![\w'])\(?([A-E])(?:\)|\.(?=\s|$)|:(?=\s))")
_ALONE = re.compile(r"(?<![\w'])([B-E])(?![\w'])")
"""A letter that is no article."""
_NONE_OF_THEM = re.compile(
    r"none of (?:these|them|the (?:above|others|options|answers|choices|statements))"
    r"(?: (?:is|are) (?:correct|right|true))?[.!]?",
    re.IGNORECASE,
)
_AROUND_LETTER = re.compile(r"[\W_]+")
_NAMING = re.compile(r"(?:answer|choice|option)\W*(?:is\W*)?\Z", re.IGNORECASE)
"""The end of words after which a letter is the choice."""
LONGEST_NAMING = 40
"""Characters before a letter that are looked at for such words."""


def read_choice(reply: str, options: Sequence[Option]) -> Letter | None:
    """The letter of the one option that the reply chooses; None for several, for none, and for a refusal.

    Read are the letter alone, in any dress ("C", "(c)", "**C**"); the letter before text ("C) King Solomon", whatever
    follows, unless it is another option's; after other marks than a bracket the text must begin as the option's does);
    the text of an option without its letter; and reasoning whose first line, last line or only named answer is one
    letter ("... so the answer is C.").
    """
    said = after_thinking(reply)[-LONGEST_READ:]
    text = undressed(said)
    if not text:
        return None
    first, _, rest = text.partition("\n")
    if rest and (opening := _bare(first)):  # a base model goes on with questions of its own making
        found = opening if _mentioned(rest) <= {opening} else None
    else:
        found = (
            _bare(text)
            or _leading(text, options)
            or _by_text(said, text, options)
            or _concluded(text)
            or _last_line(text, options)
        )
    return found if found in {option.letter for option in options} else None


def _bare(text: str) -> Letter | None:
    match = _BARE.fullmatch(text)
    return cast(Letter, match[1].upper()) if match else None


def _leading(text: str, options: Sequence[Option]) -> Letter | None:
    """The letter that opens a reply of one choice: no other option's letter or text comes after it."""
    match = _LABEL.match(text)
    chosen = next((option for option in options if match and option.letter == match[1].upper()), None)
    if match is None or chosen is None:
        return None
    mark, words = match[2], match[3]
    is_sure = mark == _SURE_MARK and match[1].isupper()
    is_article = not mark and chosen.letter == "A"
    if not is_sure and not _begins_as(words, chosen.text, whole=is_article):
        return None
    beyond = words.replace(undressed(chosen.text), " ")
    others = {*_LABELLED.findall(beyond), _bare(beyond.strip()) or chosen.letter}
    named = {option.letter for option in _held(text, options) if not _same_words(option, chosen)}
    return chosen.letter if others | named == {chosen.letter} else None


def _begins_as(words: str, option: str, *, whole: bool) -> bool:
    """Whether words after a letter are that option's, or say why it was chosen.

    The first word tells; after what may be an article ("A king built it") the `whole` option is needed.
    """
    said, own = plain_words(words), plain_words(option)
    first = said.partition(" ")[0]
    if first in _REASON:
        return True
    return f"{said} ".startswith(f"{own} ") if whole else first == own.partition(" ")[0]


def _by_text(said: str, text: str, options: Sequence[Option]) -> Letter | None:
    """The option whose words the reply is, or the only one whose whole text it holds, where it names no letter."""
    words = plain_words(text)
    same = [option for option in options if option.text.strip() == said] or [
        option for option in options if words and plain_words(option.text) == words
    ]
    if same:
        return same[0].letter if len(same) == 1 else None
    if _NONE_OF_THEM.fullmatch(text):
        return next((option.letter for option in options if option.kind is OptionKind.NONE_OF_THE_ABOVE), None)
    held = _held(text, options)
    if len(held) != 1 or _DENIED.search(text) or _LABELLED.search(text) or any(True for _ in _names(text)):
        return None
    alone = set(_ALONE.findall(text)) - set(_ALONE.findall(undressed(held[0].text)))
    return held[0].letter if alone <= {held[0].letter} else None


def _held(text: str, options: Sequence[Option]) -> list[Option]:
    """The options whose words a text holds, not counting what stands only inside of a longer one."""
    left = f" {plain_words(text)} "
    held: list[Option] = []
    for option in sorted(options, key=lambda option: -len(option.text)):
        words = f" {plain_words(option.text)} "
        if words.strip() and (words in left or any(_same_words(option, other) for other in held)):
            held.append(option)
            left = left.replace(words, "  ")
    return held


def _same_words(one: Option, other: Option) -> bool:
    return plain_words(one.text) == plain_words(other.text)


def _concluded(text: str) -> Letter | None:
    """The letter that the reply names as its answer, if it names one only."""
    letters = set(_names(text))
    return letters.pop() if len(letters) == 1 else None


def _names(text: str) -> Iterator[Letter]:
    """The letters that sentences name as the answer."""
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            if not (match[1] == "A" and _ARTICLE.match(text, match.end(1))) and not _is_denied(text, match):
                yield cast(Letter, match[1].upper())


def _is_denied(text: str, match: re.Match[str]) -> bool:
    sentence = max(text.rfind(mark, 0, match.start(1)) for mark in ".!?\n") + 1
    return _DENIED.search(text, sentence, match.end()) is not None


def _mentioned(text: str) -> set[str]:
    """The letters of options of which a text speaks in any way."""
    bare = {_bare(line) for line in text.splitlines()}
    return {*_LABELLED.findall(text), *_names(text), *(letter for letter in bare if letter)}


def _last_line(text: str, options: Sequence[Option]) -> Letter | None:
    """The choice in the last line of a longer reply, where the lines before it make none."""
    before, _, last = text.rpartition("\n")
    if not before or any(True for _ in _names(before)) or any(_bare(line) for line in before.splitlines()):
        return None
    if _LABELLED.search(before):  # the question again, or a remark on each option
        return _bare(last)
    return _bare(last) or _leading(last, options)


def letter_probabilities(tokens: Sequence[ReplyToken], chosen: Letter) -> Mapping[Letter, float] | None:
    """How probable each letter was where the chosen one was written; None where no token is that letter alone.

    The same letter in several forms ("C", " C") adds up. A reply that opens with its letter is read there, any other
    where it names the letter as its answer, or else last.
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
    """The place where the reply, after any thinking, writes the letter that it chooses."""
    ends = list(accumulate(len(token.text) for token in tokens))
    text = "".join(token.text for token in tokens)
    thought = text.rfind(THINKING_ENDS) + len(THINKING_ENDS) if THINKING_ENDS in text else 0
    said = [place for place, end in enumerate(ends) if end > thought]
    # A small letter counts only where there is no capital: "a" is an article more often than a choice.
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
    """The reply after any thinking; empty where the thinking does not end."""
    said = reply.rpartition(THINKING_ENDS)[2].strip()
    return "" if said.startswith(THINKING_BEGINS) else said


def undressed(text: str) -> str:
    """The text without quotes, brackets (round ones stay), emphasis, tags and bullets, in lines without empty ones.

    Never two spaces in a row, so that patterns which allow for one take linear time.
    """
    shown = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    bare = _QUOTES.sub(" ", _LATEX.sub("", _MARKUP.sub(" ", shown)).translate(_DRESS_MARKS))
    lines = _LINES.sub("\n", _SPACES.sub(" ", bare)).strip()
    return _BEFORE_MARK.sub(r"\1", _BULLET.sub("", lines))


@lru_cache(maxsize=512)
def plain_words(text: str) -> str:
    """Words in lower case with single spaces; no marks."""
    return " ".join(_WORDS.findall(unicodedata.normalize("NFKC", text).casefold()))
