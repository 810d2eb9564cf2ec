"""Splits a response into sentences.

Looks for full stops, recognizes abbreviations from fixed word lists, and takes linear time. Existing splitters are
unsuitable: spaCy's blank sentencizer breaks after "Fig." and "et al.", and pysbd takes quadratic time per line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from factloop.tools.text.blocks import Block, find_blocks
from factloop.tools.text.markup import MARKS, SOURCE, with_line_ends
from factloop.tools.text.words import word_set

MAX_SENTENCE = 2000
"""Maximum number of characters in a sentence, because prompts are built from sentences."""

MAX_QUOTED = 400
"""Maximum number of characters in a quotation or parenthesis that is kept in one sentence."""

NEVER_FINAL = word_set("""
    adm approx art asst attn brig ca capt cf ch cmdr col cpl dept dist dr ed eds e.g eq eqs esp est fig figs fr ft
    gen gov hon i.e incl lt maj messrs mlle mme mr mrs ms mt mx nr op p para pp pres prof pvt rep rev sec secs sen
    sgt st supt tab trans v viz vol vols vs
""")
"""Words that precede a name or number, so no sentence ends with them (lowercase, without the full stop)."""

BEFORE_NUMBER = word_set("""
    no nos jan feb mar apr jun jul aug sep sept oct nov dec art ch sec vol fig p pp c b d r
""")
"""Words after which a full stop does not end a sentence if a digit follows."""

MAYBE_FINAL = word_set("""
    a.d a.m al assn ave b.a b.c b.sc bc blvd bros co corp d.c d.phil dr.h.c e.u esq etc inc jr ltd m.a m.b.a m.d
    m.sc mass min mfg n.y op.cit p.m ph.d phd rd sq sr u.k u.n u.s u.s.a univ
""")
"""Words after which a full stop ends a sentence only if the next word is one of `OPENERS`."""

OPENERS = word_set("""
    a after although among an and another as at because before between both but by consequently despite during
    each even every finally for from furthermore had has he her here his how however if in initially instead is it
    its later like many meanwhile moreover most my nevertheless no not nowadays of on once one only or other our
    over several she since so some such that the their then there these they this those though through throughout
    thus to today two under unlike until upon we what when where whereas which while who why with within yet you your
""")
"""Closed-class words that often start a sentence (lowercase)."""

_STOP = re.compile(r"[.!?…]+|[。！？｡؟۔।]+")
_CJK_STOPS = "。！？｡"
_CLOSERS = re.compile(r"(?:\]\((?:[^()\s]|\([^()\s]{0,200}\)){1,500}\)|</[a-zA-Z]{1,10}>|[\"'”’»)\]}*_`」』）】]){0,8}")
_CITATIONS = re.compile(
    r"(?:[ \t]?(?:"
    r"\[\[?\^?\d{1,4}(?:[ ,;–-]{1,3}\d{1,4}){0,20}\]?\](?:\([^()\s]{1,500}\))?"  # [1]  [2, 3]  [[4]](https://…)
    r"|\(\[[^\[\]\n]{1,200}\]\([^()\s]{1,500}\)\)"  # ([source](https://…))
    rf"|{SOURCE}(?=\s+[A-Z\d\"“(\[*_`]|\s*$)"
    rf"|\[(?:{MARKS})\]|【[^】\n]{{1,60}}】|[¹²³⁰⁴-⁹]{{1,6}}"
    r")){0,20}"
)
_NEXT_WORD = re.compile(r"[\s\0]*[\"'“‘«„(\[*_`「『-]{0,6}([\w.'’&-]{0,40})")
_UNIT = re.compile(r"\d[ \u00a0\u202f]?[gmhslt]\Z")
"""Matches a figure with a one-letter unit, which is not an initial: *400 g. It bakes …*"""
_LAST_WORD = re.compile(r"[^\W_][\w.'’&-]*$")
_PAIRS = {"“": "”", "«": "»", "„": "“", "「": "」", "『": "』", "(": ")", '"': '"'}
_OPENING = re.compile(r"[“«„「『(\"]")
_SPACE = re.compile(r"\s")
_CLAUSE_BREAK = re.compile(r"[;:,、，；)\]]\s+|\s+[–—-]\s+|[，；、]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without surrounding whitespace and list markers, such that `response[start:end] == text`."""

    text: str
    start: int
    end: int


def split_sentences(text: str) -> list[Sentence]:
    """Returns the sentences of a response in order. Sentences do not overlap, and each contains a letter or digit.

    Headings, list items, table rows and hard line breaks end a sentence. Citations after a full stop belong to the
    preceding sentence. Fenced code is skipped. A sentence longer than `MAX_SENTENCE` is cut after a clause or a space.
    """
    shown = with_line_ends(text)
    found = [sentence for block in find_blocks(shown) for sentence in sentences_of(shown, block)]
    return found if shown == text else [replace(one, text=text[one.start : one.end]) for one in found]


def sentences_of(text: str, block: Block) -> Iterator[Sentence]:
    ends = _sentence_ends(text, block.start, block.end) if block.splittable else ()
    start = block.start
    for end in (*ends, block.end):
        yield from cut_long(text, start, end)
        start = end


def first_open(text: str, start: int, end: int) -> int | None:
    """Returns the start of the first quotation or parenthesis that later text may still close, or None."""
    spans = _quotations(text, start, end)
    return next((at for at, close in spans if close is None and len(text) < at + MAX_QUOTED), None)


def cut_long(text: str, start: int, end: int) -> Iterator[Sentence]:
    while start < end:
        stop = end if end - start <= MAX_SENTENCE else _last_break(text, start, start + MAX_SENTENCE)
        raw = text[start:stop]
        body = raw.strip(" \t\r\n\v\f\0\u0085\u00a0\u2028\u2029\ufeff")
        if any(character.isalnum() for character in body):
            first = start + raw.find(body)
            yield Sentence(body, first, first + len(body))
        start = stop


def _last_break(text: str, start: int, limit: int) -> int:
    for form in (_CLAUSE_BREAK, _SPACE):
        late = [found.end() for found in form.finditer(text, start + MAX_SENTENCE // 2, limit)]
        if late:
            return late[-1]
    return limit


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    quoted = [(at, close) for at, close in _quotations(text, start, end) if close is not None]
    opens = [at for at, _ in quoted]
    sentence_start = start
    position = start
    while (stop := _STOP.search(text, position, end)) is not None:
        position = stop.end()
        after_closers = _end_of(_CLOSERS, text, position, end)
        after = _end_of(_CITATIONS, text, after_closers, end)
        if after >= end:
            return
        span = bisect_right(opens, stop.start()) - 1
        if span >= 0 and stop.start() < quoted[span][1] and after_closers <= quoted[span][1]:
            continue  # inside a quotation or parenthesis that continues
        if not any(character.isalnum() for character in text[max(sentence_start, stop.start() - 40) : stop.start()]):
            continue
        if _is_boundary(text, sentence_start, stop, after_closers, after, end):
            yield after
            sentence_start = position = after


def _end_of(pattern: re.Pattern[str], text: str, position: int, end: int) -> int:
    found = pattern.match(text, position, end)
    return found.end() if found is not None else position


def _quotations(text: str, start: int, end: int) -> Iterator[tuple[int, int | None]]:
    position = start
    while (opening := _OPENING.search(text, position, end)) is not None:
        at, position = opening.start(), opening.end()
        if not _may_open(text, start, at):
            continue
        close = text.find(_PAIRS[text[at]], position, min(end, at + MAX_QUOTED))
        if close < 0:
            yield at, None
        elif close > position and not text[position].isspace():
            yield at, close
            position = close + 1


def _may_open(text: str, start: int, at: int) -> bool:
    return text[at] != '"' or at == start or text[at - 1].isspace() or text[at - 1] in "([*_—–-"


def _is_boundary(text: str, start: int, stop: re.Match[str], after_closers: int, after: int, end: int) -> bool:
    mark = stop.group()
    if mark[0] in _CJK_STOPS:
        return True
    next_word = _NEXT_WORD.match(text, after, end)
    following = next_word.group(1) if next_word is not None else ""
    word = _word_before(text, start, stop.start())
    if not (text[after].isspace() or text[after] == "\0"):
        return after > after_closers
    if after > after_closers and not following[:1].islower():
        return True
    if mark == ".":
        is_unit = _UNIT.search(text, max(start, stop.start() - 12), stop.start()) is not None
        return _full_stop_ends(text, start, word, following, quoted=after_closers > stop.end(), is_unit=is_unit)
    return not following[:1].islower()


def _full_stop_ends(text: str, start: int, word: str, following: str, *, quoted: bool, is_unit: bool) -> bool:
    lower = word.lower()
    if is_unit:
        return following[:1].isupper()
    opens = following.lower().rstrip(".") in OPENERS and not following.endswith(".")
    if lower in NEVER_FINAL or (lower in BEFORE_NUMBER and following[:1].isdigit()):
        return False
    if len(word) == 1 and word.isalpha() and not following[:1].isdigit():
        return opens and word.isupper() and following[:1].isupper()
    if lower in MAYBE_FINAL or re.fullmatch(r"(?:[a-z]\.)+[a-z]", lower):
        return opens and following[:1].isupper()
    if word.isdigit() and len(word) <= 3 and text[start : start + 40].strip(" \t*_([").startswith(f"{word}."):
        return False  # the number of a list item on the same line
    if following[:1].islower():
        return opens and not quoted and len(word) >= 3 and word.isalpha()
    return True


def _word_before(text: str, start: int, stop: int) -> str:
    found = _LAST_WORD.search(text[max(start, stop - 24) : stop])
    return found.group() if found is not None else ""
