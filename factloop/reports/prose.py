"""Prepares a response for the report page: Markdown becomes tags, and text becomes pieces with marks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from factloop.reports.faults import Fault
from factloop.reports.markdown import Part, Tag, TextRun, read_markdown

LONGEST_LAID_OUT = 100_000  # maximum number of characters of a response; longer responses are shown as plain text
_OF_PLAIN_TEXT = ("p", "br")


@dataclass(frozen=True)
class PageStretch:
    """A part of a response: a sentence with its claims' numbers, or text between sentences.

    `text` is safe to display, and `said` is the verdict in words, for readers who cannot see colours. Each of the
    `marks` is a symbol with its tone.
    """

    text: str
    numbers: tuple[int, ...] = ()
    tone: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    said: str = ""
    faults: tuple[Fault, ...] = ()
    leads_to: int = 0
    """The number of the worst claim, which the stretch links to."""
    in_cells: bool = False
    """Whether this is a table row whose cells carry the symbols."""


def homes(stretches: Iterable[PageStretch]) -> Mapping[int, int]:
    """Maps each claim's number to the number of its sentence's first claim, which identifies the sentence in URLs."""
    return {number: one.numbers[0] for one in stretches for number in one.numbers}


@dataclass(frozen=True)
class Words:
    """Words with the same formatting. Either all of them are wrong, or none are."""

    text: str
    fault: Fault | None = None
    begins_fault: bool = False
    code: bool = False
    href: str = ""


@dataclass(frozen=True)
class Piece:
    """A part of a stretch that contains no tags."""

    stretch: PageStretch
    words: tuple[Words, ...]
    begins: bool = False
    """Whether this is the first piece of its stretch, which carries the symbols."""
    ends: bool = False


@dataclass(frozen=True)
class Prose:
    parts: Sequence[Tag | Piece]
    raw: str
    """The source of the response. Empty if the page shows it unchanged anyway."""


@dataclass(frozen=True)
class _Cut:
    """A part of a stretch, with its position in the response. Either all of its words are wrong, or none are."""

    start: int
    end: int
    number: int
    fault: Fault | None


def lay_out(stretches: Sequence[PageStretch]) -> Prose:
    """Splits the response into tags and pieces, or shows it as plain text if Markdown would hide a marked stretch."""
    text = "".join(one.text for one in stretches)
    plain: list[Part] = [Tag("p", attributes={"class": "plain"}), TextRun(text, 0, len(text)), Tag("p", closes=True)]
    parts = read_markdown(text) if len(text) <= LONGEST_LAID_OUT else plain
    pieces = _pieces(parts, stretches)
    if not _shows_all(pieces, stretches):
        parts, pieces = plain, _pieces(plain, stretches)
    return Prose(pieces, text if parts is not plain and is_marked_up(parts) else "")


def _shows_all(pieces: Sequence[Tag | Piece], stretches: Sequence[PageStretch]) -> bool:
    begun = sum(isinstance(one, Piece) and one.begins for one in pieces)
    return begun == sum(bool(one.said and one.text.strip()) for one in stretches)


def is_marked_up(parts: Iterable[Part]) -> bool:
    """Whether the parts look different from the text that they represent."""
    return any(
        part.name not in _OF_PLAIN_TEXT if isinstance(part, Tag) else part.code or part.href or not part.is_literal
        for part in parts
    )


def _pieces(parts: Sequence[Part], stretches: Sequence[PageStretch]) -> list[Tag | Piece]:
    cuts = list(_cuts(stretches))
    starts = [cut.start for cut in cuts]
    begun: set[int] = set()
    begun_faults: set[_Cut] = set()
    pieces: list[Tag | Piece] = []
    last: dict[int, int] = {}
    for is_tag, group in groupby(parts, lambda part: isinstance(part, Tag)):
        if is_tag:
            pieces += (part for part in group if isinstance(part, Tag))
            continue
        runs = (part for part in group if isinstance(part, TextRun))
        for number, found in groupby(_words(runs, cuts, starts, begun_faults), lambda one: one[0]):
            stretch, words = stretches[number], tuple(one for _, one in found)
            begins = number not in begun and bool(stretch.said) and any(one.text.strip() for one in words)
            begun |= {number} if begins else set()
            pieces.append(Piece(stretch, words, begins))
            last[number] = len(pieces) - 1
    for at in last.values():
        piece = pieces[at]
        assert isinstance(piece, Piece)
        pieces[at] = replace(piece, ends=True)
    return pieces


def _words(
    runs: Iterable[TextRun], cuts: Sequence[_Cut], starts: Sequence[int], begun: set[_Cut]
) -> Iterator[tuple[int, Words]]:
    for run in runs:
        for text, cut in _cut(run, cuts, starts):
            begins_fault = cut.fault is not None and cut not in begun
            if begins_fault:
                begun.add(cut)
            yield cut.number, Words(text, cut.fault, begins_fault, run.code, run.href)


def _cuts(stretches: Sequence[PageStretch]) -> Iterator[_Cut]:
    start = 0
    for number, stretch in enumerate(stretches):
        reached = 0
        for fault in stretch.faults:
            yield _Cut(start + reached, start + fault.start, number, None)
            yield _Cut(start + fault.start, start + fault.end, number, fault)
            reached = fault.end
        yield _Cut(start + reached, start + len(stretch.text), number, None)
        start += len(stretch.text)


def _cut(run: TextRun, cuts: Sequence[_Cut], starts: Sequence[int]) -> Iterator[tuple[str, _Cut]]:
    """A run that is not a copy of the source, such as an entity, is never split."""
    at = bisect_right(starts, run.start) - 1
    if not run.is_literal:
        yield run.text, cuts[at]
        return
    reached = run.start
    while reached < run.end:
        end = min(run.end, cuts[at].end)
        if end > reached:
            yield run.text[reached - run.start : end - run.start], cuts[at]
            reached = end
        at += 1
