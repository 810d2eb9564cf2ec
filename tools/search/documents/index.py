"""The BM25 index of passages in tantivy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import tantivy

from factloop.core.errors import DataError
from factloop.tools.search.documents.sections import Section
from factloop.tools.search.passages import PARAGRAPH, SPACELESS, Chunk, PassageSettings, split_chunks

HEADING_BOOST = 0.25
"""The weight of words in the title and headings, which count for each passage. Titles are short, so BM25 gives each of
their words a high score. A boost of 2 hid better passages, and 0.5 found fewer decisive sentences
(`benchmarks.retrieval`).
"""
_MAX_QUERY_TERMS = 100
_LONGEST_TERM = 60
_ANALYZER = "factloop"
NO_TEXT = "it contains no text"
_SMALL_BYTES = 20_000_000
_HEAP_BYTES = 400_000_000
"""Memory shared by all threads, enough for about a million passages. With less, segments are merged repeatedly."""
_SMALL_HEAP_BYTES = 16_000_000
_KEPT = 2_000
"""Number of passages and query clauses to cache, because the claims of an answer often share them."""
_FOLLOWS, _PRECEDES, _BEGINS_WITHIN, _ENDS_WITHIN, _NO_SPACE, _NEW_PARAGRAPH = (1 << bit for bit in range(6))
_SPACELESS_CHARACTER = re.compile(f"[{SPACELESS}]")


@dataclass(frozen=True, slots=True)
class StoredPassage:
    key: str
    number: int
    passage: str
    title: str
    url: str | None
    fragment: str
    published: str | None
    section: str | None = None
    place: int = 0

    @property
    def n_characters(self) -> int:
        return len(self.passage) + len(self.title) + len(self.section or "")

    @property
    def has_before(self) -> bool:
        return bool(self.place & _FOLLOWS)

    @property
    def has_after(self) -> bool:
        return bool(self.place & _PRECEDES)

    @property
    def begins_within(self) -> bool:
        """Whether the passage begins within a sentence that is too long for one passage."""
        return bool(self.place & _BEGINS_WITHIN)

    @property
    def ends_within(self) -> bool:
        return bool(self.place & _ENDS_WITHIN)

    @property
    def joint(self) -> str:
        return PARAGRAPH if self.place & _NEW_PARAGRAPH else "" if self.place & _NO_SPACE else " "


class ScoredPassage(NamedTuple):
    stored: StoredPassage
    score: float
    """BM25 score. Higher is better, but scores from different queries are not comparable."""


def new_index(folder: Path | None) -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title", stored=True, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_text_field("body", stored=True, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_text_field("section", stored=True, tokenizer_name=_ANALYZER, index_option="freq")
    builder.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("number", stored=True, indexed=True)
    builder.add_integer_field("place", stored=True)
    for name in ("url", "fragment", "published", "as_written"):
        builder.add_bytes_field(name, stored=True)
    return _with_analyzer(tantivy.Index(builder.build(), path=str(folder) if folder else None))


def open_index(folder: Path) -> tantivy.Index:
    """Opens the index in the folder. Raises ValueError if the folder has no readable index."""
    return _with_analyzer(tantivy.Index.open(str(folder)))


def update_index(
    index: tantivy.Index,
    *,
    remove: Iterable[str],
    add: Iterable[tuple[str, Iterable[Section]]],
    n_bytes: int,
    settings: PassageSettings,
    may_fail: Collection[str] = (),
) -> dict[str, DataError]:
    """Removes and adds the passages of files in a single commit. An error leaves the index unchanged.

    A file that cannot be read to the end is skipped if its key is in `may_fail`. Returns the errors of such files by
    key, with `NO_TEXT` for files without passages. `n_bytes` is the size of the files to add. Small amounts are written
    by a single thread, to make their order repeatable.
    """
    small = n_bytes < _SMALL_BYTES
    writer = index.writer(_SMALL_HEAP_BYTES if small else _HEAP_BYTES, 1 if small else 0)
    for key in remove:
        writer.delete_documents_by_query(tantivy.Query.term_query(index.schema, "key", key, "basic"))
    failed: dict[str, DataError] = {}
    for key, sections in add:
        number = -1
        try:
            for number, (chunk, section, place) in enumerate(placed_chunks(sections, settings)):
                writer.add_document(_document(key, number, chunk.text, section, place))
        except DataError as error:
            if key not in may_fail:
                raise
            writer.delete_documents_by_query(tantivy.Query.term_query(index.schema, "key", key, "basic"))
            failed[key] = error
        else:
            if number < 0:
                failed[key] = DataError(NO_TEXT)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return failed


def placed_chunks(sections: Iterable[Section], settings: PassageSettings) -> Iterator[tuple[Chunk, Section, int]]:
    held: tuple[Chunk, Section, int] | None = None
    for section in sections:
        if held is not None and not section.goes_on:
            yield held
            held = None
        for chunk in split_chunks(section.text, settings, section.tables):
            place = 0
            if held is not None:
                place = _FOLLOWS | _BEGINS_WITHIN * chunk.begins_within
                place |= _NEW_PARAGRAPH if chunk.joint == PARAGRAPH else 0 if chunk.joint else _NO_SPACE
                yield held[0], held[1], held[2] | _PRECEDES | _ENDS_WITHIN * chunk.begins_within
            held = (chunk, section, place)
    if held is not None:
        yield held


def _document(key: str, number: int, passage: str, section: Section, place: int) -> tantivy.Document:
    body, title = _spaced(passage), _spaced(section.title)
    above = _spaced(section.section or "")
    document = tantivy.Document()  # fills field by field, because keyword arguments take twice as long
    document.add_text("title", title)
    document.add_text("body", body)
    document.add_text("key", key)
    document.add_integer("number", number)
    if place:
        document.add_integer("place", place)
    if above:
        document.add_text("section", above)
    document.add_bytes("fragment", _stored(section.fragment))
    if section.url is not None:
        document.add_bytes("url", _stored(section.url))
    if section.published is not None:
        document.add_bytes("published", _stored(section.published))
    if body != passage or title != section.title or above != (section.section or ""):
        for text in (passage, section.title, section.section or ""):
            document.add_bytes("as_written", _stored(text))
    return document


def _stored(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # lone surrogates, which JSON allows, cannot be encoded


class PassageReader:
    """Searches one state of an index. Later changes are not visible."""

    def __init__(self, index: tantivy.Index) -> None:
        self._schema, self._searcher = index.schema, index.searcher()
        self._read = lru_cache(maxsize=_KEPT)(self._read_from_disk)
        self._clauses = lru_cache(maxsize=_KEPT)(self._clauses_of)
        self._few: tuple[StoredPassage, ...] | None = None
        self._n_characters: int | None = None
        self.at = lru_cache(maxsize=_KEPT)(self._at)

    @property
    def n_passages(self) -> int:
        return int(self._searcher.num_docs)

    def search(self, text: str, limit: int) -> list[ScoredPassage]:
        """Returns up to `limit` passages that share a word with the text, best first. There is no query syntax."""
        terms = query_terms(text)
        if not terms or limit < 1:
            return []
        clauses = [clause for term in terms for clause in self._clauses(term)]
        found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit=limit, count=False).hits
        return [ScoredPassage(self._stored(address), float(score)) for score, address in found]

    def _at(self, key: str, number: int) -> StoredPassage:
        clauses = [
            (tantivy.Occur.Must, tantivy.Query.term_query(self._schema, "key", key, "basic")),
            (tantivy.Occur.Must, tantivy.Query.term_query(self._schema, "number", number, "basic")),
        ]
        ((_, address),) = self._searcher.search(tantivy.Query.boolean_query(clauses), limit=1, count=False).hits
        return self._stored(address)

    def few(self, most_characters: int) -> tuple[StoredPassage, ...] | None:
        """Returns all passages in any order, or None if they and their headings exceed `most_characters`."""
        if self.n_passages > most_characters or (self._n_characters or 0) > most_characters:
            return None
        if self._few is None:
            everything = self._everything()
            self._n_characters = sum(item.n_characters for item in everything)
            if self._n_characters > most_characters:
                return None
            self._few = everything
        return self._few

    def _everything(self) -> tuple[StoredPassage, ...]:
        if not self.n_passages:
            return ()
        found = self._searcher.search(tantivy.Query.all_query(), limit=self.n_passages, count=False).hits
        return tuple(self._stored(address) for _, address in found)

    def _clauses_of(self, term: str) -> tuple[tuple[tantivy.Occur, tantivy.Query], ...]:
        """Builds clauses for a flat query, because tantivy takes twice as long with a subquery for each term."""
        body = tantivy.Query.term_query(self._schema, "body", term, "freq")
        title = tantivy.Query.term_query(self._schema, "title", term, "freq")
        above = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(query, HEADING_BOOST))
            for query in (title, tantivy.Query.term_query(self._schema, "section", term, "freq"))
        ]
        return (tantivy.Occur.Should, body), *above

    def _stored(self, address: tantivy.DocAddress) -> StoredPassage:
        return self._read(address.segment_ord, address.doc)

    def _read_from_disk(self, segment: int, number: int) -> StoredPassage:
        document = self._searcher.doc(tantivy.DocAddress(segment, number))
        as_written = [bytes(value).decode("utf-8") for value in document.get_all("as_written")]
        section: str | None = document.get_first("section")
        passage, title = document["body"][0], document["title"][0]
        if as_written:
            passage, title, section = as_written
        url, fragment, published = (
            bytes(value).decode("utf-8") if (value := document.get_first(name)) is not None else None
            for name in ("url", "fragment", "published")
        )
        return StoredPassage(
            document["key"][0],
            document["number"][0],
            passage,
            title,
            url,
            fragment or "",
            published,
            section or None,
            document.get_first("place") or 0,
        )


def query_terms(text: str) -> list[str]:
    """Returns the distinct terms of a query, in order. Only the first terms of a long query are used."""
    return list(dict.fromkeys(terms_of(text)))[:_MAX_QUERY_TERMS]


def terms_of(text: str) -> list[str]:
    terms: list[str] = _analyzer().analyze(_spaced(text))
    return terms


def _with_analyzer(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(_ANALYZER, _analyzer())
    return index


@cache
def _analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(_LONGEST_TERM))
    for step in (tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold(), tantivy.Filter.stemmer("english")):
        builder = builder.filter(step)
    return builder.build()


def _spaced(text: str) -> str:
    if text.isascii():
        return text
    return _SPACELESS_CHARACTER.sub(r" \g<0> ", unicodedata.normalize("NFC", _stored(text).decode("utf-8")))
