"""Splits passages into sentences, with their stems and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from factloop.tools.judges.figures import Figure, in_unit_of, read_figures
from factloop.tools.text.blocks import Block
from factloop.tools.text.pipeline import load_pipeline
from factloop.tools.text.sentences import sentences_of

MAX_KEPT_PASSAGES = 2_000
MAX_KEPT_WORDS = 50_000

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:]\d+)*")
_CODE = re.compile(r"(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[^\W_]+(?:-[^\W_]+)*")
_SEMICOLON = re.compile(r"(?<=;)\s+")
_KEY_WORD = re.compile(r"[^\W\d_]+|[+−-]?\d+(?:[.,:]\d+)*|[%€$£]")
_BRACKETED = re.compile(r"\[[^\[\]]{0,60}\]")
_RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")
_PAIR = re.compile(r"\s*([^:;]{1,80}):\s+([^;]{1,200})(?:;|$)")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    """The text exactly as in the passage."""
    read_as: str
    """The same text, except that a table row is written as *header: cell; header: cell*."""
    whole: str
    """The sentence that contains the text. Both are the same unless the sentence has a semicolon."""
    stems: frozenset[str]
    figures: tuple[Figure, ...]
    """The figures of the sentence, with offsets in `read_as`."""
    context: frozenset[str]
    """Stems of the title, the heading and the previous sentence."""
    figures_around: tuple[Figure, ...]
    is_row: bool
    is_heading: bool


@cache
def _stemmer() -> object:
    import tantivy

    filters = (tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold(), tantivy.Filter.stemmer("english"))
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    for one in filters:
        builder = builder.filter(one)
    return builder.build()


@cache
def _irregular() -> Mapping[str, str]:
    try:
        table = load_pipeline().get_pipe("lemmatizer").lookups.get_table("lemma_exc")  # type: ignore[attr-defined]
    except (KeyError, AttributeError):
        return {}
    return {form: lemmas[0] for kind in ("noun", "verb") for form, lemmas in table.get(kind, {}).items() if lemmas}


@lru_cache(maxsize=MAX_KEPT_WORDS)
def stem(word: str) -> str:
    """Returns the Snowball stem of a word, in lowercase, without accents and without endings after an apostrophe."""
    plain = re.sub(r"['’](?:s|t|re|ve|ll|d|m)?$", "", word).lower() or word
    plain = _irregular().get(plain, plain)
    analysed = _stemmer().analyze(plain)  # type: ignore[attr-defined]  # the library ships no stubs
    return str(analysed[0]) if analysed else plain.lower()


def stems_of(text: str) -> frozenset[str]:
    """Returns the stems of words and numbers, and of codes such as *B-52*, which the parser keeps as one token."""
    return frozenset(map(stem, (*_WORD.findall(text), *_CODE.findall(text))))


@lru_cache(maxsize=MAX_KEPT_PASSAGES)
def read_passage(passage: str) -> tuple[Sentence, ...]:
    """Splits a passage into sentences, in order. Takes linear time. Caches the last `MAX_KEPT_PASSAGES` passages."""
    sentences: list[Sentence] = []
    title: Sentence | None = None
    heading = before = title
    lines = list(_lines(passage))
    for number, (line, read_as, is_row) in enumerate(lines):
        pieces = [(line, read_as, line)] if is_row else [(part, part, whole) for part, whole in split_sentences(line)]
        is_heading = not is_row and len(pieces) == 1 and _is_heading(line, opens=number == 0 and len(lines) > 1)
        for text, said, whole in pieces:
            around = (title, heading, before)
            context = frozenset[str]().union(*(other.stems for other in around if other))
            near = tuple(figure for other in around if other for figure in other.figures)
            one = Sentence(text, said, whole, stems_of(said), figures_in(said), context, near, is_row, is_heading)
            sentences.append(one)
            before = None if is_row else one
        if is_heading:
            title, heading, before = title or sentences[-1], sentences[-1], None
    return tuple(sentences)


def _is_heading(line: str, *, opens: bool) -> bool:
    bare = line.strip()
    is_short = len(bare) < 90 and ":" not in bare
    return bare.startswith("#") or (is_short and (opens or bare[-1:] not in tuple('.!?;,)"”')))


def _lines(passage: str) -> Iterator[tuple[str, str, bool]]:
    head: Sequence[str] = ()
    lines = [line for line in passage.splitlines() if line.strip()]
    for place, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if "|" in line else []
        if _RULE.fullmatch(line) and head:
            continue
        if cells and place + 1 < len(lines) and _RULE.fullmatch(lines[place + 1]):
            head = cells
            continue
        if not cells:
            head = ()
        if head:
            pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(head, cells, strict=False) if cell]
            yield line, "; ".join(pairs), True
        else:
            yield line, line, _is_row(line)


def _is_row(line: str) -> bool:
    return len(_PAIR.findall(line)) > 1 and _PAIR.sub("", line).strip() == ""


def figures_in(text: str) -> tuple[Figure, ...]:
    return tuple(_row_figures(text)) if _is_row(text) else read_figures(text)


def subject_of_row(text: str) -> frozenset[str]:
    """Returns the stems of a row's first cell, which names the row, or an empty set for other text."""
    return stems_of(_PAIR.match(text)[2]) if _is_row(text) else frozenset()  # type: ignore[index]  # a row matches


def _row_figures(row: str) -> Iterator[Figure]:
    for pair in _PAIR.finditer(row):
        for figure in read_figures(pair[2]):
            yield replace(in_unit_of(figure, pair[1]), start=pair.start(2) + figure.start)
        for figure in read_figures(pair[1]):
            yield replace(figure, start=pair.start(1) + figure.start)


def split_sentences(text: str) -> list[tuple[str, str]]:
    """Returns the parts between the semicolons of the sentences in a line, each with its sentence."""
    sentences = sentences_of(text, Block(0, len(text), "prose"))
    return [(piece, one.text) for one in sentences for piece in _SEMICOLON.split(one.text) if _WORD.search(piece)]


@lru_cache(maxsize=MAX_KEPT_PASSAGES)
def word_key(text: str) -> str:
    """Returns the words and signed figures of a text in lowercase, with a separator between sentences.

    Texts have the same key if they differ only in spacing, case, punctuation or bracketed marks.
    """
    bare = _BRACKETED.sub("", text)
    pieces = (piece.lower() for line in bare.splitlines() for piece, _ in split_sentences(line))
    sentences = (" ".join(_KEY_WORD.findall(piece)) for piece in pieces)
    return "|".join(["", *filter(None, sentences), ""])
