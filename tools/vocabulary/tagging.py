"""Penn Treebank tags for the words of any text: TextBlob's lexicon and rules, on exact positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from factloop.tools.vocabulary.data import packaged_lines, packaged_tags, textblob_module
from factloop.tools.vocabulary.tokens import TOKEN

_MARKS = {
    ",": ",", ";": ":", ":": ":", "-": ":", "–": ":", "—": ":", "…": ":", "(": "(", "[": "(", "{": "(", ")": ")",
    "]": ")", "}": ")", '"': "''", "'": "''", "“": "``", "”": "''", "‘": "``", "’": "''", "«": "``", "»": "''",
    "$": "$", "£": "$", "€": "$", "¥": "$", "₹": "$", "#": "#", "&": "CC",
}  # fmt: skip
_FINAL = frozenset(".!?。！？।")
_MAX_CONTEXT = 200
"""Tokens that are tagged together where a text has no end of sentence."""
_LOADING = Lock()


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or mark: `text[start:end]` of the tagged text is this `text`."""

    text: str
    start: int
    end: int
    tag: str
    """Of the Penn Treebank: NN, NNS, NNP, VBD, JJ, CD ... Whatever begins with a digit is CD, dates and ordinals too; a
    word of a script without capitals is FW; a mark that Penn has no tag for is SYM."""


@lru_cache(maxsize=2048)
def tag_tokens(text: str) -> tuple[Token, ...]:
    """The tokens of any text, in order, with their tags; all but white space is in one of them.

    Made for English. Names in lower case are known where the lexicon has them with a capital (*spain*, *ncaa*). Costs
    some 30 microseconds a token; the first call loads the lexicon in a quarter of a second.
    """
    spans = [(match.group(), match.start(), match.end()) for match in TOKEN.finditer(text)]
    words = [word for word, _, _ in spans]
    shouted = len(words) > 2 and not any(letter.islower() for letter in text)
    tags: list[str] = []
    for sentence in _sentences([word.lower() for word in words] if shouted else words):
        tags.extend(_tags(sentence))
    return tuple(Token(word, start, end, tag) for (word, start, end), tag in zip(spans, tags, strict=True))


def _sentences(words: Sequence[str]) -> Iterator[list[str]]:
    """Runs up to a final mark: the rules look at neighbours, and at the first word in another way."""
    sentence: list[str] = []
    for word in words:
        sentence.append(word)
        if word in _FINAL or len(sentence) >= _MAX_CONTEXT:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _tags(words: Sequence[str]) -> list[str]:
    parser, lexicon = _loaded()
    alone = [
        [word, _name_tag(word, lexicon) or tag]
        for word, tag in parser.find_tags([word.replace("’", "'") for word in words], map=_as_it_is)
    ]
    in_context = lexicon.context.apply([list(pair) for pair in alone])
    return [_settled(word, own, tag, lexicon) for (word, own), (_, tag) in zip(alone, in_context, strict=True)]


def _name_tag(word: str, lexicon: dict[str, str]) -> str | None:
    """NNP for a word in lower case that the lexicon has only as a name, and for a capital on an unknown word."""
    if word in lexicon or word.lower() in lexicon:
        return None
    if word[0].isupper():
        return "NNP"
    tags = {lexicon.get(word.capitalize()), lexicon.get(word.upper())}
    return next((tag for tag in ("NNP", "NNPS") if tag in tags), None)


def _settled(word: str, alone: str, tag: str, lexicon: dict[str, str]) -> str:
    """The tag after all rules; numbers, marks and other scripts are known by their look.

    The rules of context go too far at times: they make names of words in lower case (*the last time wisconsin won*),
    and gerunds of words without -ing.
    """
    if word[0].isdigit():
        return "CD"
    if not any(letter.isalnum() for letter in word):
        return "." if set(word) <= _FINAL else _MARKS.get(word, "SYM")
    if word.lower() == word.upper() and not word.isascii():
        return "FW"
    too_far = (
        (tag.startswith("NNP") and word.islower())
        or (alone.startswith("NNP") and word not in lexicon)
        or (tag == "VBG" and not word.lower().endswith(("ing", "in'")))
        or (tag == "VBZ" and not word.lower().endswith("s"))
    )
    return (alone if too_far else tag).split("|")[0]


def _loaded() -> tuple[Any, Any]:
    """TextBlob's parser and its lexicon with the rules of context, loaded completely before any thread uses them."""
    with _LOADING:
        return _load()


@lru_cache(maxsize=1)
def _load() -> tuple[Any, Any]:
    rules = textblob_module("_text")
    lexicon = rules.Lexicon(context=packaged_lines("en-context.txt"), language="en")
    dict.update(lexicon, packaged_tags())  # its own `update` would read the file of words once more
    lexicon.context.load()
    return rules.Parser(lexicon=lexicon, default=("NN", "NNP", "CD"), language="en"), lexicon


def _as_it_is(word: str, tag: str) -> tuple[str, str]:
    """The parser's map of tags: they stay Penn's."""
    return word, tag
