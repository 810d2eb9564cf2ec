"""Text as the lexical verifier sees it: short sentences of terms that compare by lemma, figure or month.

Everything is linear in the length of the text, whatever the text is: the expressions hold no nested repeats, and a
sentence is closed after `MAX_SENTENCE_CHARS` characters even where no full stop comes. That bound matters for the
number words too, whose reader takes time quadratic in a run of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from factloop.tools.linguistics.abbreviations import NEVER_FINAL, OPENERS
from factloop.tools.linguistics.english import is_known, lemmatize
from factloop.tools.linguistics.lexicon import AUXILIARIES, BE, MODALS, OPENING_ADVERBS
from factloop.tools.verifiers.plain_figures import in_plain_figures
from factloop.tools.verifiers.wording import NAMES_OF_ONE

MAX_SENTENCE_CHARS = 600
MAX_TERM_CHARS = 48
MAX_KEPT_CHARS = 24
"""A word is kept with its terms up to this length: no script without spaces fills the memory with whole sentences."""

# Scripts written without spaces yield one term a character.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_MARKS = ",;:()—–"
_KNOWN = "|".join(re.escape(name) for name in sorted(NAMES_OF_ONE, key=len, reverse=True))
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}])"
    r"|(?P<date>(?<!\d)\d{4}-\d{2}-\d{2}(?!\d))"
    r"|(?P<figure>\d+(?:[.,]\d+)*)(?:(?:st|nd|rd|th|s)\b)?"
    rf"|\b(?<!New )(?P<known>{_KNOWN})(?:['’]s)?(?!\w)"
    r"|(?P<acronym>(?:[A-Za-z]\.){2,})"
    rf"|(?P<word>(?:[Nn]on-(?=[a-z]))?[^\W\d_{_UNSPACED}]+(?:['’][^\W\d_{_UNSPACED}]+)?)"
    rf"|(?P<mark>[{_MARKS}])"
)
_WITH_SPACES = "|".join([*(re.escape(name) for name in NAMES_OF_ONE if " " in name), f"New (?:{_KNOWN})"])
_NAME_WITH_SPACES = re.compile(_WITH_SPACES)
"""The names that what stands between two spaces does not tell: *United States*; and *New Holland*, which is none."""
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]{0,2}\s(?=\s{0,8}[^\W_a-z])|[。！？]|\n")
_NO_SCALE = r"(?!(?:[MBTmbt]r?illions?|[Pp]er ?cent)\b)"
_CLAUSE_NUMBER = re.compile(
    rf"[ \t]*(\d{{1,3}}(?:\.\d{{1,3}}){{1,3}})(?<!\.\d\d)\.?[ \t]+{_NO_SCALE}(?=[A-Z](?:[a-z]|[ \t][a-z]))"
)
"""*3.2 Contractors*; *9.30 Breakfast* is a time, *2.50 Coffee* a price."""
_ITEM_NUMBER = re.compile(r"[ \t]*\(?\d{1,3}[.)][ \t]+(?=\S)")
_WITHIN_PATH = re.compile(r"(?<=› )\d{1,3}(?:\.\d{1,3}){0,3}\.?[ \t]+(?=\S)")
"""The number of a heading that stands below others: *Leave › 2.1 Sick leave*."""
_NUMBERS_NEXT = re.compile(r"[\n›][ \t]*\(?\d{1,3}(?:\.\d{1,3}){0,3}\Z")
_LONGEST_NUMBERING = 20
_SHORT_WORD = re.compile(r"(?<![\w.])[^\W\d_]{1,6}\Z")
_INITIALS = re.compile(r"(?<![\w.])(?:[A-Z]\.){1,3}[A-Z]\Z")
_HOURS = frozenset({"A.M", "P.M"})
_NEXT_WORD = re.compile(r"\s{0,8}([^\W\d_]{1,12})(\.?)")
_BEFORE_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")

_NEGATIONS = "not no never none nobody nothing nowhere neither nor without cannot unable hardly"
_FUNCTION_WORDS = """
a about above after again all also although am an and any are as at be because been before being below between both but
by can could did do does doing down during each either else few for from further had has have having he her here hers
herself him himself his how however i if in into is it its itself just may me might more most much must my myself of off
on once only or other our ours out over own per same she should since so some such than that the their theirs them
themselves then there these they this those through thus to too under until up upon very was we were what when where
which while who whom whose why will with within would yet you your yours
"""
_IRREGULAR = """
won win felt feel left leave thought think rose rise shook shake shot shoot broke break bore bear bit bite gone go
swore swear rung ring trod tread spelt spell fixed fix fixes fix fixing fix mixed mix mixes mix mixing mix crosses cross
"""
_WORDS_IN_LESS = """
countless doubtless endless flawless nevertheless nonetheless priceless regardless reckless restless ruthless stainless
timeless tireless useless wireless matchless relentless seamless
"""
_MONTH_NAMES = "january february march april may june july august september october november december"

NEGATIONS = frozenset(_NEGATIONS.split())
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
IRREGULAR = dict(zip(_IRREGULAR.split()[::2], _IRREGULAR.split()[1::2], strict=True))
"""Forms that simplemma leaves as they stand, since they are words of their own as well, or gives to a rarer word."""
NOUNS_LIKE_PASTS = frozenset({"saw", "rose", "wound", "bore", "spoke", "dove", "stove"})
"""Nouns that are the past of other words: *a saw* is no form of *see*."""
_BY_PLACE = NOUNS_LIKE_PASTS | {"m", "A"}
"""Words whose place tells what they are."""
_ONLY = frozenset({"only", "Only", "ONLY"})
_CENTURIES = frozenset({"century", "centuries"})
_BEFORE_NOUN = frozenset({"a", "an", "the", "each", "every", "another"})
WORDS_IN_LESS = frozenset(_WORDS_IN_LESS.split())
"""Words in *-less* that do not say that something is missing."""
NON = "non-"
"""A prefix that a reading takes for a denial: *non-refundable*."""
MIN_BEFORE_LESS = 3
MAX_LABEL_WORDS = 3
"""Words after the first in the name of a column."""
MONTHS = {
    spelling: number
    for number, name in enumerate(_MONTH_NAMES.split(), start=1)
    for spelling in (name, name[:3], name[:4] if name == "september" else name)
}


class TermKind(Enum):
    """The kind of a term. Function words and negations are no content; names and figures are also compared apart."""

    FUNCTION = "function"
    NEGATION = "negation"
    WORD = "word"
    NAME = "name"
    YEAR = "year"
    MONTH = "month"
    NUMBER = "number"
    MARK = "mark"
    """A comma or the like, between two clauses."""

    __hash__ = object.__hash__
    """Each kind is one object. Python's own hash is that of the name, taken in Python code."""


FIGURES = frozenset({TermKind.YEAR, TermKind.MONTH, TermKind.NUMBER})
CONTENT = FIGURES | {TermKind.WORD, TermKind.NAME}


class Term(NamedTuple):
    """One token. Two terms match where their `key` is equal; `surface` is how the text spells it."""

    key: str
    kind: TermKind
    surface: str

    @property
    def period(self) -> str | None:
        """The first digits of the years that a decade ("1930s") or a century ("1800s") holds; else None."""
        if self.kind is not TermKind.YEAR or not self.surface.endswith("s"):
            return None
        return self.key[:2] if self.key.endswith("00") else self.key[:3]


PART_ONLY = Term("-only", TermKind.FUNCTION, "only")
"""The end of *read-only*, which excludes nothing else."""


@dataclass(frozen=True, slots=True)
class SentenceTerms:
    """One sentence of a passage, with its text after normalisation."""

    text: str
    terms: tuple[Term, ...]

    def __hash__(self) -> int:
        """Of the text alone, which tells the terms and whose hash is kept."""
        return hash(self.text)


def read_sentences(text: str) -> tuple[SentenceTerms, ...]:
    """The sentences of a text that hold at least one word or figure, in order; any text will do, in linear time."""
    sentences = (SentenceTerms(piece, tuple(_terms(piece))) for piece in _pieces(_normalised(text)))
    return tuple(one for one in sentences if any(term.kind is not TermKind.MARK for term in one.terms))


def read_passage(text: str) -> tuple[SentenceTerms, ...]:
    """The same of a passage, without the numbers of its headings, items and clauses: *3.* of a heading would be the 3
    of anything."""
    sentences: list[SentenceTerms] = []
    opens_line = True
    for piece in _pieces(_normalised(text)):
        sentences.append(SentenceTerms(piece, tuple(_terms_behind_number(piece, opens_line=opens_line))))
        opens_line = piece.endswith("\n")
    return tuple(one for one in sentences if any(term.kind is not TermKind.MARK for term in one.terms))


def _terms_behind_number(piece: str, *, opens_line: bool) -> list[Term]:
    number = _CLAUSE_NUMBER.match(piece) or (_ITEM_NUMBER.match(piece) if opens_line else None)
    rest = piece if number is None else piece[number.end() :]
    return _terms(_WITHIN_PATH.sub("", rest) if "›" in rest else rest)


def sentence_texts(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence of a text after normalisation, and as the text has it."""
    return ((_normalised(piece), piece) for piece in _pieces(text.replace("\r", "\n")))


def _normalised(text: str) -> str:
    """Compatibility forms folded, lone surrogates replaced (no encoder takes them), NUL blanked."""
    folded = unicodedata.normalize("NFKC", _BEFORE_FRACTION.sub(" ", text)).encode("utf-8", "replace").decode("utf-8")
    return folded.replace("\r", "\n").replace("\0", " ")


def _pieces(text: str) -> Iterator[str]:
    start = 0
    ends = (match.end() for match in _SENTENCE_END.finditer(text) if not _is_abbreviated(text, match))
    for end in [*ends, len(text)]:
        while end - start > MAX_SENTENCE_CHARS:
            space = text.rfind(" ", start + MAX_SENTENCE_CHARS // 2, start + MAX_SENTENCE_CHARS)
            cut = start + MAX_SENTENCE_CHARS if space < 0 else space + 1
            yield text[start:cut]
            start = cut
        yield text[start:end]
        start = end


def _is_abbreviated(text: str, stop: re.Match[str]) -> bool:
    """Whether a full stop is that of initials or a title before a name: *J. Brunel*, *Dr. Ahlberg*, *the U.S. Navy*."""
    if _is_numbering(text, stop):
        return True
    reach = max(0, stop.start() - 8), stop.start()
    forms = (_SHORT_WORD, _INITIALS) if stop[0].startswith(".") else ()
    word = next((found for form in forms if (found := form.search(text, *reach)) is not None), None)
    following = _NEXT_WORD.match(text, stop.end())
    if word is None or following is None or stop[0].endswith("\n"):
        return False
    is_initial = word[0].isupper() and (len(word[0]) == 1 or "." in word[0]) and word[0] not in _HOURS
    is_opener = following[1].lower() in OPENERS and not (following[2] and len(following[1]) == 1)
    return (is_initial or word[0].lower() in NEVER_FINAL) and not is_opener


def _is_numbering(text: str, stop: re.Match[str]) -> bool:
    """Whether a full stop is that of the number which a line or a heading begins with: *3. Parental leave*."""
    begin = stop.start() - _LONGEST_NUMBERING
    before = text[begin : stop.start()] if begin > 0 else f"\n{text[: stop.start()]}"
    return not stop[0].endswith("\n") and _NUMBERS_NEXT.search(before) is not None


class _Token(NamedTuple):
    """A piece of a text by its kind in `_TOKEN`, with the terms that it is inside a sentence without labels."""

    kind: str
    surface: str
    terms: tuple[Term, ...]


def _terms(sentence: str) -> list[Term]:
    has_label = ":" in sentence
    tokens = _tokens(in_plain_figures(sentence))
    terms: list[Term] = []
    for place, token in enumerate(tokens):
        if token.kind == "word" and (has_label or place == 0 or token.surface in _BY_PLACE):
            terms.append(_word_at(tokens, place, has_label=has_label))
        elif token.kind == "figure" and place + 1 < len(tokens) and tokens[place + 1].surface.lower() in _CENTURIES:
            terms.append(_as_years(*token.terms))
        else:
            terms += token.terms
    return terms


def _word_at(tokens: Sequence[_Token], place: int, *, has_label: bool) -> Term:
    """The term of a word whose place in the sentence may matter."""
    _, surface, (inside,) = tokens[place]
    if surface in NOUNS_LIKE_PASTS and place > 0 and tokens[place - 1].surface.lower() in _BEFORE_NOUN:
        return Term(surface, TermKind.WORD, surface)
    if surface == "m" and place > 0 and tokens[place - 1].kind == "figure":
        return Term(surface, TermKind.WORD, surface)  # metres, and no form of *be*
    if surface == "A" and _is_called_a(tokens, place):
        return Term(surface, TermKind.WORD, surface)
    opens = place == 0 or (has_label and _is_label(tokens, place))
    if not opens or inside is PART_ONLY:
        return inside
    followed_by_capital = place == 0 and len(tokens) > 1 and tokens[1].surface[0].isupper()
    return _word(surface, opens, followed_by_capital)


def _tokens(text: str) -> list[_Token]:
    """The tokens of a text. What stands between two spaces is mostly a word that has been read before."""
    if _NAME_WITH_SPACES.search(text):
        return _read_tokens(text)
    tokens: list[_Token] = []
    for part in text.split():
        tokens += _kept_tokens(part) if len(part) <= MAX_KEPT_CHARS else _read_tokens(part)
    return tokens


@lru_cache(maxsize=50_000)
def _kept_tokens(part: str) -> tuple[_Token, ...]:
    """The tokens of what stands between two spaces; a mark at its end is cut off first, so that the rest is shared."""
    if part[-1] in _MARKS:
        mark = _Token("mark", part[-1], (Term(part[-1], TermKind.MARK, part[-1]),))
        return (*_kept_tokens(part[:-1]), mark) if len(part) > 1 else (mark,)
    word = part.removesuffix(".")
    is_plain = word.isascii() and word.isalpha() and word not in NAMES_OF_ONE
    return (_Token("word", word, (_word(word, False, False),)),) if is_plain else tuple(_read_tokens(part))


def _read_tokens(text: str) -> list[_Token]:
    # code points among the unspaced scripts that stand for no character are left out
    return [_token(one) for one in _TOKEN.finditer(text) if one.lastgroup != "unspaced" or one.group().isprintable()]


def _token(match: re.Match[str]) -> _Token:
    kind, surface = str(match.lastgroup), match.group()[:MAX_TERM_CHARS]
    if kind == "mark":
        return _Token(kind, surface, (Term(surface, TermKind.MARK, surface),))
    if kind == "figure":
        return _Token(kind, surface, (_figure(match["figure"][:MAX_TERM_CHARS], surface),))
    if kind == "date":
        return _Token(kind, surface, _date(surface))
    if kind == "known":
        return _Token(kind, surface, (Term(NAMES_OF_ONE[match["known"]], TermKind.NAME, surface),))
    if surface in _ONLY and match.start() > 0 and match.string[match.start() - 1] == "-":
        return _Token("word", surface, (PART_ONLY,))
    return _Token("word", surface, (_word(surface, False, False),))


def _date(surface: str) -> tuple[Term, ...]:
    year, month, day = surface.split("-")
    return (
        Term(year, TermKind.YEAR, surface),
        Term(f"month {int(month)}", TermKind.MONTH, surface),
        Term(day.lstrip("0") or "0", TermKind.NUMBER, surface),
    )


def _is_called_a(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a capital *A* is a name, and no article: *A is cheaper than B*, *Model A*, but not *Once Upon A Time*."""
    following = tokens[place + 1].surface if place + 1 < len(tokens) else ""
    if place == 0:
        return following in BE | AUXILIARIES | MODALS
    return tokens[place - 1].kind == "word" and not following[:1].isupper()


def _is_label(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a word is the label of a figure and no name, or opens that of a cell: *Seats* of *Plan: Team; Seats: 10*,
    *Monthly* of *Plan: Team; Monthly price: 79*."""
    if tokens[place - 1].surface == ";":
        return any(token.surface == ":" for token in tokens[place + 1 : place + 2 + MAX_LABEL_WORDS])
    is_before_figure = place + 2 < len(tokens) and tokens[place + 2].kind == "figure"
    return is_before_figure and tokens[place + 1].surface == ":"


def _without_less(lemma: str) -> str:
    """*fan* of *fanless*; a reading denies it (`reading`), as it does in *no fan*."""
    bare = lemma.removesuffix("less")
    is_built = len(bare) >= MIN_BEFORE_LESS and bare != lemma and lemma not in WORDS_IN_LESS
    return bare if is_built and is_known(bare) else lemma


def _figure(digits: str, surface: str) -> Term:
    """A number without its thousands separators, leading and trailing zeros; four bare digits are taken for a year."""
    plain = digits.replace(",", "") if _THOUSANDS.fullmatch(digits) else digits.replace(",", ".")
    if len(digits) == 4 and digits.isdigit() and digits[0] in "12":
        return Term(plain, TermKind.YEAR, surface)
    whole, _, fraction = plain.partition(".")
    fraction = fraction.rstrip("0")
    key = (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")
    return Term(key, TermKind.NUMBER, surface)


def _as_years(century: Term) -> Term:
    """The 1500s for *16th*, which *century* follows."""
    if century.kind is not TermKind.NUMBER or not century.key.isdigit() or not 10 < int(century.key) < 30:
        return century
    first = f"{int(century.key) - 1}00"
    return Term(first, TermKind.YEAR, f"{first}s")


@lru_cache(maxsize=50_000)
def _word(surface: str, opens_sentence: bool, followed_by_capital: bool) -> Term:
    """The term of a word; `followed_by_capital` tells only of the word that opens a sentence, else it is False."""
    word = surface.replace("’", "'").replace(".", "")
    lowered = word.lower()
    if lowered.endswith("n't"):
        return Term("not", TermKind.NEGATION, surface)
    lowered = lowered.removesuffix("'s").removeprefix(NON)
    if lowered == "two":  # the reader of number words leaves this one as it stands
        return Term("2", TermKind.NUMBER, surface)
    lemma = IRREGULAR.get(surface) or lemmatize(lowered).lower()
    if lemma in NEGATIONS or lowered in NEGATIONS:
        return Term("not", TermKind.NEGATION, surface)
    capitalised = surface[0].isupper()
    if capitalised and lowered in MONTHS and (not opens_sentence or lowered not in {"may", "march", "mar"}):
        return Term(f"month {MONTHS[lowered]}", TermKind.MONTH, surface)
    opens_as_adverb = followed_by_capital and lowered in OPENING_ADVERBS
    if lowered in FUNCTION_WORDS or lemma in FUNCTION_WORDS or opens_as_adverb:
        return Term(lemma, TermKind.FUNCTION, surface)
    lemma = _without_less(lemma)
    is_name = capitalised and (not opens_sentence or followed_by_capital or surface[1:] != surface[1:].lower())
    return Term(lemma, TermKind.NAME if is_name else TermKind.WORD, surface)
