"""Parses a sentence and turns pieces of a parsed sentence back into text.

Brackets and quoted titles confuse the parser. Text in brackets is therefore set aside and put back after the same word,
and a quoted title is parsed as a single name.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias

from factloop.tools.text.pipeline import MAX_KEPT, parsed_part

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

Piece: TypeAlias = "tuple[Token | str, ...]"
"""Tokens of a sentence, arranged as in a claim, with added words as strings."""

SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
AUXILIARIES = frozenset({"aux", "auxpass", "neg"})

LONGEST_TITLE = 10
"""Maximum number of tokens in a quotation that is read as one word. Longer quotations are parsed."""

_STAND_IN = "Hamlet"
"""Replaces a quoted title in the parser's input, so that the parser treats the title as a name."""
_CLOSING = {'"': '"', "“": "”", "(": ")"}

_GAPS = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"\( ?\)"), ""),
    (re.compile(r" (?=[,.;:!?)\]%]|'s\b)"), ""),
    (re.compile(r"(?<=[(\[]) "), ""),
    (re.compile(r"(?:, ?)+(?=[,.;:])"), ""),
)
_ENDS = re.compile(r"^[\s,;:.–—-]+|[\s,;:–—]+$")
_FUNCTION = frozenset({"DET", "PRON", "ADP", "SCONJ", "ADV", "VERB"})


def render(piece: Piece, spelt: Mapping[int, str]) -> str:
    """Returns the piece as a capitalized sentence with a full stop. `spelt` maps token indices to replacements."""
    words: list[str] = []
    for place, (one, following) in enumerate(zip_longest(piece, piece[1:])):
        if isinstance(one, str):
            words.append(f"{one} ")
            continue
        text = spelt.get(one.i, one.text)
        if place and one.i == 0 and one.pos_ in _FUNCTION and one.i not in spelt and text != "I":
            text = text[:1].lower() + text[1:]
        is_joined = not isinstance(following, str) and following is not None and following.i == one.i + 1
        words.append(f"{text}{one.whitespace_}" if is_joined else f"{text} ")
    text = "".join(words)
    for pattern, replacement in _GAPS:
        text = pattern.sub(replacement, text)
    return as_sentence(_ENDS.sub("", text))


def as_sentence(text: str) -> str:
    """Adds a full stop and an initial capital, but keeps the spelling of names such as *iPhone*."""
    first = text.split(" ", 1)[0]
    text = text[:1].upper() + text[1:] if first.islower() else text
    return text if text.endswith((".", "!", "?", "…", '."', ".”", '!"', '?"', "!”", "?”")) else f"{text}."


def without(tokens: Iterable[Token], apart: Sequence[Token]) -> list[Token]:
    """Returns the tokens without the subtrees of `apart` and the commas and conjunctions that attach these subtrees."""
    gone = {token.i for one in apart for token in one.subtree}
    for one in apart:
        doc, before, after = one.doc, one.left_edge.i - 1, one.right_edge.i + 1
        while before >= 0 and (doc[before].text in {",", ";"} or doc[before].dep_ in {"cc", "preconj"}):
            gone.add(before)
            before -= 1
        if one.dep_ != "conj" and after < len(doc) and doc[after].text == ",":
            gone.add(after)
    return [token for token in tokens if token.i not in gone]


def covers(pieces: Sequence[Piece], doc: Doc) -> bool:
    """Whether the pieces contain every word of the sentence except conjunctions and relative pronouns."""
    kept = {one.i for piece in pieces for one in piece if not isinstance(one, str)}
    return all(
        token.i in kept
        or token.is_punct
        or token.dep_ in {"cc", "preconj", "case", "mark"}
        or token.tag_ in {"WP", "WDT", "WP$"}
        for token in doc
    )


def is_apart(token: Token) -> bool:
    first = token.left_edge.i
    return first > 0 and token.doc[first - 1].text in {",", "–", "—"}


def is_plural(token: Token) -> bool:
    return token.tag_ in {"NNS", "NNPS"} or any(child.dep_ == "conj" for child in token.children)


def subject_of(predicate: Token) -> Token | None:
    """Returns the predicate's subject, or None if there is none or it is a relative pronoun."""
    subjects = (child for child in predicate.children if child.dep_ in SUBJECTS)
    return next((child for child in subjects if child.tag_ not in {"WP", "WDT"}), None)


def auxiliaries_of(predicate: Token) -> list[Token]:
    return [child for child in predicate.lefts if child.dep_ in AUXILIARIES]


def finite_tag(predicate: Token) -> str:
    return str(next(iter(auxiliaries_of(predicate)), predicate).tag_)


def is_past(predicate: Token) -> bool:
    return finite_tag(predicate) in {"VBD", "VBN"}


def is_denied(predicate: Token) -> bool:
    return any(child.dep_ == "neg" for child in predicate.children) or any(
        token.lower_ in {"no", "none", "nobody", "nothing"} and token.i < predicate.i for token in predicate.subtree
    )


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A parsed sentence, with the texts that were set aside."""

    doc: Doc
    titles: Mapping[int, str]
    """Maps tokens to the quoted titles that they replace."""
    asides: Mapping[int, str]
    """Maps tokens to the texts in brackets that follow them, including the space before."""

    def spelt(self, but: Container[int] = ()) -> dict[int, str]:
        """Maps the tokens with a title or an aside to their full text. Leaves out the asides of tokens in `but`."""
        asides = {place: aside for place, aside in self.asides.items() if place not in but}
        places = {*self.titles, *asides}
        return {place: self.titles.get(place, self.doc[place].text) + asides.get(place, "") for place in places}


@lru_cache(maxsize=MAX_KEPT)
def read(text: str, nlp: Language) -> Reading:
    """Parses a sentence, or only its beginning if it is very long. Caches the result, because several steps need it."""
    from spacy.tokens import Doc

    words: list[str] = []
    spaces: list[bool] = []
    titles: dict[int, str] = {}
    asides: dict[int, str] = {}
    for kind, word, has_space in _words(nlp.make_doc(parsed_part(text).encode("utf-8", "replace").decode("utf-8"))):
        if kind == "aside":
            asides[len(words) - 1] = asides.get(len(words) - 1, "") + " " * spaces[-1] + word
            spaces[-1] = has_space
            continue
        if kind == "title":
            titles[len(words)] = word
        words.append(_STAND_IN if kind == "title" else word)
        spaces.append(has_space)
    return Reading(nlp(Doc(nlp.vocab, words=words, spaces=spaces)), titles, asides)


def _words(doc: Doc) -> Iterator[tuple[Literal["word", "title", "aside"], str, bool]]:
    place = 0
    while place < len(doc):
        token, end = doc[place], _end(doc, place)
        if end is not None and token.text == "(" and place > 0 and not doc[place - 1].is_punct:
            yield "aside", doc[place : end + 1].text, bool(doc[end].whitespace_)
        elif end is not None and token.text != "(" and _is_title(doc, place, end):
            yield from _title(doc, place, end)
        else:
            end = place
            yield "word", token.text, bool(token.whitespace_)
        place = end + 1


def _end(doc: Doc, start: int) -> int | None:
    mark = doc[start].text
    if mark not in _CLOSING:
        return None
    for place in range(start + 1, len(doc)):
        if doc[place].text == _CLOSING[mark]:
            return place
        if doc[place].text == mark:
            return None
    return None


def _is_title(doc: Doc, start: int, end: int) -> bool:
    first: str = doc[start + 1].text
    return (first[:1].isupper() or first[:1].isdigit()) and 1 < end - start <= LONGEST_TITLE


def _title(doc: Doc, start: int, end: int) -> Iterator[tuple[Literal["word", "title"], str, bool]]:
    """A comma or full stop before the closing quotation mark is moved after it."""
    last, has_space = doc[end - 1], bool(doc[end].whitespace_)
    is_marked = last.text in {",", "."} and end - 1 > start + 1
    inner = doc[start + 1 : end - 1 if is_marked else end].text
    yield "title", f"{doc[start].text}{inner}{doc[end].text}", has_space and not is_marked
    if is_marked:
        yield "word", last.text, has_space
