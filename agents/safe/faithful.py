"""Checks that the facts a model extracted from a sentence say what the sentence says.

If a model corrected a wrong year while extracting facts, for example, the year would be judged as supported, and no
later stage would notice. Every reply is therefore checked for added or lost figures, names, negations and hedges. Facts
that do not match their sentence are requested once more, with a complaint that gives the reason. If they still do not
match, the whole sentence becomes a single claim.

Negations and hedges are compared only in English. Figures and names are compared in all languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from pydantic import BaseModel

from factloop.agents.safe.judgements import refuse
from factloop.core.grounds import FIGURE, WORD
from factloop.tools.text.words import CARDINALS, ORDINALS

T = TypeVar("T", bound=BaseModel)

_CITATION = re.compile(
    r"\[\^?[\w ,.-]{1,12}\]|\([^()]*?[A-Z][^()]*?,? (?:19|20)\d\d[a-z]?\)|(?:^|\n)[ \t]*\d{1,3}[.)] "
)
"""Matches citation marks and list numbers. Their figures are not part of what a sentence states."""
_LETTERS = re.compile(r"[^\W\d_]+")
_ACRONYM = re.compile(r"\b[A-Z]{2,6}s?\b")
_RELATIVE = re.compile(
    r"\b(?:later|earlier|after|before|ago|next|following|previous|preceding|since|until|till|aged?|old|same|then"
    r"|years?|decades?|centur(?:y|ies)|half|twice|double[ds]?|total|each|both|more|less|fewer|over|under)\b",
    re.IGNORECASE,
)
"""Matches words that let a reader work out an unwritten figure: *two years later*, *at the age of 30*."""
_DENIAL = re.compile(
    r"\b(?:not(?! only| just| merely| least| until)|never|no(?!\.? ?\d| longer than)|none|neither|nor|without|cannot)\b"
    r"|n['’]t\b(?! until)",
    re.IGNORECASE,
)
_DENIES = re.compile(
    rf"{_DENIAL.pattern}|\b(?:un(?!i|der|til|cle)|dis(?:agree|allow|app|band|cont|like|miss|prov|qual|reg|sat)|non-?|mis"
    r"|il(?=leg|lit)|ir(?=r)|im(?=mob|perf|poss|prob)|in(?=ab|ac|ad|app|cap|com|cor|def|eff|eli|exp|suff|val|vis))[a-z]{3,}"
    r"|\b(?:no|only|few|little|hardly|rarely|barely|except|fail|lack|den[iy]|refus|absen|avoid|stop|ceas|prevent|declin"
    r"|reject|los[et]|former|instead|false|wrong|ban|forbid|until|exclud|oppos|abandon|withdr|drop)[a-z]*",
    re.IGNORECASE,
)
"""Matches negations in many forms. A negation counts as lost or added only if the other text has no match at all."""
_HEDGE = re.compile(
    r"\b(?:may(?!\b,? \d| of\b)|might|perhaps|maybe|possibly|probably|reportedly|allegedly|supposedly|apparently"
    r"|presumably|(?:said|believed|thought|rumou?red|alleged|reported) to)\b"
)
_HEDGES = re.compile(
    rf"{_HEDGE.pattern}|\b(?:can|could|likely|potential|suggest|claim|seem|appear|possib|uncertain|unclear|assum|estimat"
    r"|risk|chance|argu|report|said|believ|thought|rumou?r|alleg|suspect|consider)[a-z]*",
    re.IGNORECASE,
)
_VALUES: Mapping[str, str] = {
    **{word: str(value) for words in (CARDINALS, ORDINALS) for value, word in enumerate(words) if "-" not in word},
    "once": "1",
    "twice": "2",
    "both": "2",
    "half": "2",
    "dozen": "12",
    "hundred": "100",
}
_FIRST = re.compile(r"(?:^[\W\d_]*|[:\n][\W\d_]*(?=\w+\W+[^\W\d_A-Z]))(\w+)")
"""Matches a word that may be capitalized only because it comes first in the text or after a colon: *Tip: Share it*, but
not *Author: Goethe*.
"""
_STEM = 4
"""Number of initial letters that two forms of a word must share: *Briton*, *British*."""


class Wording:
    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def figures(self) -> frozenset[str]:
        """The figures and number words of the text. Equal numbers have the same form."""
        words = (_VALUES.get(word) for word in map(str.lower, _LETTERS.findall(self._text)))
        return frozenset([*map(_plain, FIGURE.findall(self._text)), *filter(None, words)])

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(_stem(word) for word in _LETTERS.findall(self._text))

    @cached_property
    def _initials(self) -> frozenset[str]:
        """The letters of all acronyms. Each may stand for a word in a name that a fact spells out."""
        return frozenset("".join(_ACRONYM.findall(self._text)).lower())

    def has_figure(self, figure: str) -> bool:
        """Whether the text contains the figure. Years also match by their last two digits: *2005-09* matches 2009."""
        return figure in self.figures or any(_is_end(one, figure) or _is_end(figure, one) for one in self.figures)

    def lacking(self, text: str, *, exactly: bool = False) -> Iterator[str]:
        """Yields the figures in `text` that this wording lacks. *09* matches 2009 unless `exactly` is set."""
        has = self.figures.__contains__ if exactly else self.has_figure
        return (figure for figure in FIGURE.findall(text) if not has(_plain(figure)))

    def has_name(self, word: str) -> bool:
        return _stem(word) in self._stems or word[0].lower() in self._initials or _ACRONYM.fullmatch(word) is not None


def complaint(sentence: str, facts: Iterable[str], said: Wording) -> str | None:
    """Returns the complaint to send to the model if the facts do not match their sentence, or None if they do.

    `said` is the wording of the texts that a fact may draw on: the answer and the question.
    """
    listed = list(facts)
    text = " ".join(listed)
    if not text or not sentence:
        return None
    own, found = _CITATION.sub(" ", sentence), Wording(text)
    if not _RELATIVE.search(own) and (added := next(said.lacking(text), None)):
        return f"no sentence says {added!r}: add and correct nothing"
    for name in (name for fact in listed for name in _names(fact)):
        if not any(said.has_name(word) for word in _LETTERS.findall(name)):
            return f"{name!r} is not in the answer: add and correct nothing"
    if lost := next(found.lacking(own), None):
        return f"{lost!r} is in none of its facts"
    names = _names(own)
    if names and not any(found.has_name(word) for name in names for word in _LETTERS.findall(name)):
        return f"{names[0]!r} is in none of its facts"
    for word, anything, name in ((_DENIAL, _DENIES, "denial"), (_HEDGE, _HEDGES, "hedge")):
        if (hit := word.search(own)) and not anything.search(text):
            return f"its {name} {hit[0]!r} is in none of its facts"
    if not own.rstrip().endswith("?") and (hit := _DENIAL.search(text)) and not _DENIES.search(own):
        return f"it has no denial, and a fact of it says {hit[0]!r}"
    return None


class Faithful(Generic[T]):
    """Rejects the first reply whose facts do not match their sentences, so that the gateway requests another one.

    Pass a new instance as the `accept` of each request. The second reply is always accepted, and `unfit` then lists the
    sentences whose facts still do not match.
    """

    def __init__(
        self, sentences: Sequence[str], said: Wording, facts_of: Callable[[T], Iterable[tuple[int, str]]]
    ) -> None:
        """`facts_of` returns the facts in a reply, each with the number of its sentence, starting at 1."""
        self._sentences, self._said, self._facts_of = sentences, said, facts_of
        self._has_refused = False
        self.unfit: frozenset[int] = frozenset()
        """Numbers (from 1) of the sentences that do not match their facts in the latest reply."""

    def __call__(self, answer: T) -> None:
        facts: defaultdict[int, list[str]] = defaultdict(list)
        for number, fact in self._facts_of(answer):
            facts[number].append(fact)
        whys = {number: complaint(self._sentences[number - 1], facts[number], self._said) for number in sorted(facts)}
        wrong = {number: why for number, why in whys.items() if why is not None}
        self.unfit = frozenset(wrong)
        if wrong and not self._has_refused:
            self._has_refused = True
            refuse(answer, "; ".join(f"sentence {number}: {why}" for number, why in wrong.items()))


def _plain(figure: str) -> str:
    figure = re.sub(r"[,.](?=\d{3}(?:\D|$))", "", figure)
    return (figure.rstrip("0").rstrip(".") if "." in figure else figure).lstrip("0") or "0"


def _is_end(short: str, figure: str) -> bool:
    return len(short) == 2 and len(figure) == 4 and figure.endswith(short)


def _names(text: str) -> list[str]:
    first = {found.start(1) for found in _FIRST.finditer(text)}
    words = [found for found in WORD.finditer(text) if found.start() not in first]
    return [found[0] for found in words if found[0][0].isupper() and found[0] not in {"I", "The", "A"}]


def _stem(word: str) -> str:
    plain = "".join(one for one in unicodedata.normalize("NFKD", word) if not unicodedata.combining(one))
    return plain.casefold().removesuffix("s")[:_STEM]
