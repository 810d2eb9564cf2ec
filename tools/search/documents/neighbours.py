"""Adds the surrounding text to hits, because the decisive sentence is often the previous or next one."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import PrivateAttr

from factloop.core.errors import ToolError
from factloop.core.records import SourceDocument, over_pages
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.documents.index import PassageReader, StoredPassage

CANDIDATES = 30
"""Number of passages to get from BM25 for reranking, and for ordering equal scores by position."""
_SCORE_DIGITS = 4
"""Number of decimals of scores to compare. Further digits depend on the order in which the weights are added."""


def ranked_passages(
    reader: PassageReader, query: str, limit: int, name_of: Callable[[str], str]
) -> list[StoredPassage]:
    """Returns at most `limit` or `CANDIDATES` passages, whichever is more, best first. Identical passages appear once.

    Passages with equal scores are ordered by document name, which `name_of` returns for a key, then by position.
    """
    found: defaultdict[float, list[StoredPassage]] = defaultdict(list)
    for item in reader.search(query, max(limit, CANDIDATES)):
        found[round(item.score, _SCORE_DIGITS)].append(item.stored)
    distinct: dict[str, StoredPassage] = {}
    for _, equals in sorted(found.items(), reverse=True):
        in_order = equals if len(equals) == 1 else sorted(equals, key=lambda one: (name_of(one.key), one.number))
        for stored in in_order:
            distinct.setdefault(stored.passage, stored)
    return list(distinct.values())


MOST_CHARACTERS = 2_000
"""Maximum number of characters in a hit with its neighbours. A longer hit gets no neighbours."""
BEGINS_EARLIER, GOES_ON = "(the sentence begins earlier)", "(the sentence goes on)"


@dataclass(slots=True)
class PassageRun:
    """Consecutive passages of one document, in reading order."""

    parts: list[StoredPassage]

    @property
    def first(self) -> StoredPassage:
        return self.parts[0]

    @property
    def last(self) -> StoredPassage:
        return self.parts[-1]

    @property
    def n_characters(self) -> int:
        return sum(len(part.passage) for part in self.parts)

    def text(self) -> tuple[str, dict[str, int]]:
        """Returns the run's text as it is in the document, and where each fragment, such as `page=3`, starts.

        New sections start with a blank line and their headings.
        """
        text = f"{BEGINS_EARLIER} " if self.first.begins_within else ""
        starts: dict[str, int] = {}
        for above, part in zip((None, *self.parts), self.parts, strict=False):
            if above is not None:
                text += f"\n\n{part.section}\n" if part.section not in (None, above.section) else part.joint
            starts.setdefault(part.fragment, len(text))
            text += part.passage
        return text + (f" {GOES_ON}" if self.last.ends_within else ""), starts


def with_neighbours(hits: Iterable[StoredPassage], limit: int, reader: PassageReader) -> list[PassageRun]:
    """Returns at most `limit` runs of passages, ordered by their best hits. No passage belongs to two runs.

    A run consists of one hit or several adjacent hits, with the passages before and after them.
    """
    runs: list[PassageRun] = []
    held: set[tuple[str, int]] = set()
    for hit in hits:
        if len(runs) >= limit:
            break
        if (hit.key, hit.number) in held:
            continue
        run = PassageRun([hit])
        if hit.has_after and (hit.key, hit.number + 1) not in held:
            _extend(run, reader.at(hit.key, hit.number + 1))
        if hit.has_before and (hit.key, hit.number - 1) not in held:
            _extend(run, reader.at(hit.key, hit.number - 1))
        held.update((part.key, part.number) for part in run.parts)
        runs = list(_joined(runs, run))
    return runs


def _extend(run: PassageRun, neighbour: StoredPassage) -> None:
    if run.n_characters + len(neighbour.passage) <= MOST_CHARACTERS:
        run.parts = [neighbour, *run.parts] if neighbour.number < run.first.number else [*run.parts, neighbour]


def _joined(runs: Iterable[PassageRun], new: PassageRun) -> Iterator[PassageRun]:
    is_open = True
    for run in runs:
        first, second = (run, new) if _meet(run, new) else (new, run)
        if is_open and _meet(first, second) and run.n_characters + new.n_characters <= MOST_CHARACTERS:
            run, is_open = PassageRun([*first.parts, *second.parts]), False
        yield run
    if is_open:
        yield new


def _meet(one: PassageRun, other: PassageRun) -> bool:
    return one.last.key == other.first.key and one.last.number + 1 == other.first.number and one.last.has_after


class PassageSearch(SearchTool):
    """Base class for searches in the user's own documents: free, in this process, without network access."""

    usd_per_query: float | None = 0.0

    _reader: PassageReader = PrivateAttr()
    _identity: str = PrivateAttr()

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def recorded_as(self) -> None:
        return None

    @property
    def cacheable(self) -> bool:
        return False

    @property
    def is_local(self) -> bool:
        return True

    @property
    def own_documents(self) -> bool:
        return True

    @property
    def n_passages(self) -> int:
        return self._reader.n_passages

    @abstractmethod
    def _name_of(self, key: str) -> str:
        """Returns the name by which the document with this key is ordered."""

    @abstractmethod
    def _source(self, stored: StoredPassage) -> str: ...

    def _document(self, stored: StoredPassage) -> SourceDocument | None:  # noqa: ARG002 - for subclasses
        return None

    def _hit(self, run: PassageRun) -> SearchHit:
        first, (text, starts) = run.first, run.text()
        pages = [(at, int(name.removeprefix("page="))) for name, at in starts.items() if name.startswith("page=")]
        return SearchHit(
            source=over_pages(self._source(first), self._source(run.last)),
            title=first.title,
            section=first.section,
            passage=text,
            published=first.published,
            document=self._document(first),
            pages=tuple(pages) if len(pages) > 1 else (),
        )

    def _ranked(self, query: str, limit: int) -> list[StoredPassage]:
        return ranked_passages(self._reader, query, limit, self._name_of)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Searches for free text in any script.

        Hits include neighbouring passages, but no passage appears twice. If several passages have the same text, only
        the first one is a hit.
        """
        if limit < 1:
            return []
        with self._damage_told():
            runs = with_neighbours(self._ranked(query, limit), limit, self._reader)
        return [self._hit(run) for run in runs]

    def all_passages(self, most_characters: int) -> list[SearchHit] | None:
        with self._damage_told():
            few = self._reader.few(most_characters)
        if few is None:
            return None
        ordered = sorted(few, key=lambda stored: (self._name_of(stored.key), stored.number))
        return [self._hit(PassageRun([stored])) for stored in ordered]

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:  # tantivy raises this if an index is damaged while it is open
            raise ToolError(f"{self.name}: the index is damaged; run again to rebuild it", tool=self.name) from error
