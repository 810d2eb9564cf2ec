"""Lists the sentences, headings, table rows and code of a response in order, each with the headings above it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from factloop.tools.text.blocks import Block, code_in, find_blocks
from factloop.tools.text.markup import with_line_ends
from factloop.tools.text.sentences import cut_long, sentences_of

PartKind = Literal["prose", "item", "heading", "head", "row", "code"]

_RULE = re.compile(r"[ \t]*\r?\n[ \t>]*\|?[ \t]*:?-[-|: \t]*(?:\r?\n|$)")
_LINE_BREAK = re.compile(r"[\r\n]")
_MARKS = re.compile(r"#+")
_BOLD_LEVEL = 7
_LONGEST_ABOVE = 300
"""Maximum number of characters in a line in `above`, which every part below repeats."""
_LONGEST_INDENT = 80
"""Maximum number of characters before the text of an item, including its marker."""
_MOST_LEADS = 4


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, heading, table row or piece of code, such that `response[start:end] == text`."""

    text: str
    start: int
    end: int
    kind: PartKind
    """`head` is the table row that names the columns."""
    above: str = ""
    """The context, one entry per line: headings, then the lead-in of the part's list or the header of its table."""


def read_outline(text: str, is_late: Callable[[], bool] = lambda: False) -> list[Part]:
    """Returns the parts of a response in order, without overlap. Takes linear time.

    The sentences are the same as in `split_sentences`. Fenced code is included as separate parts. Each part contains a
    letter or digit. Once `is_late()` is true, the rest of the text is only cut into long pieces.
    """
    shown = with_line_ends(text)
    reader = _Reader(shown)
    units: list[Block | tuple[int, int]] = [*find_blocks(shown), *code_in(shown)]
    parts: list[Part] = []
    for unit in sorted(units, key=lambda unit: unit.start if isinstance(unit, Block) else unit[0]):
        if is_late():
            rest = reader.code(parts[-1].end if parts else 0, len(shown))
            parts += [replace(part, kind="prose") for part in rest]
            break
        parts += reader.block(unit) if isinstance(unit, Block) else reader.code(*unit)
    return parts if shown == text else [replace(part, text=text[part.start : part.end]) for part in parts]


@dataclass
class _Reader:
    """The headings, list introductions and table header that apply to the next part."""

    text: str
    headings: list[tuple[int, str]] = field(default_factory=list)
    leads: list[tuple[int, str]] = field(default_factory=list)
    """Texts that introduce a list, each with its indentation (-1 for a paragraph). Items may introduce nested items."""
    head: str = ""

    def block(self, block: Block) -> Iterator[Part]:
        if block.kind == "heading":
            yield self._heading(block)
        elif block.kind == "row":
            yield self._row(block)
        else:
            yield from self._sentences(block)

    def code(self, start: int, end: int) -> Iterator[Part]:
        for piece in cut_long(self.text, start, end):
            yield Part(piece.text, piece.start, piece.end, "code", self._above(*self._leads()))

    def _heading(self, block: Block) -> Part:
        self.leads.clear()
        self.head = ""
        line = self.text.rfind("\n", 0, block.start) + 1
        marks = _MARKS.search(self.text, line, block.start)
        level = len(marks[0]) if marks else _BOLD_LEVEL
        self.headings = [known for known in self.headings if known[0] < level]
        part = self._part(block, "heading")
        self.headings.append((level, part.text.strip("*_: ")[:_LONGEST_ABOVE]))
        return part

    def _row(self, block: Block) -> Part:
        if _RULE.match(self.text, self._end_of_cells(block)):
            self.head = self.text[block.start : block.end][:_LONGEST_ABOVE]
            return self._part(block, "head")
        return self._part(block, "row", self.head)

    def _end_of_cells(self, block: Block) -> int:
        end = block.end
        while end < len(self.text) and self.text[end] in "| \t":
            end += 1
        return end

    def _sentences(self, block: Block) -> Iterator[Part]:
        self.head = ""
        kind: PartKind = "item" if block.kind == "item" else "prose"
        indent = self._indent(block) if kind == "item" else -1
        while self.leads and self.leads[-1][0] >= indent:
            self.leads.pop()
        above = self._above(*self._leads())
        for sentence in sentences_of(self.text, block):
            yield Part(sentence.text, sentence.start, sentence.end, kind, above)
        said = self.text[block.start : block.end].rstrip("*_ ")
        if (kind == "item" or said.endswith(":")) and len(self.leads) < _MOST_LEADS:
            self.leads.append((indent, said[-_LONGEST_ABOVE:]))

    def _indent(self, block: Block) -> int:
        before = _LINE_BREAK.split(self.text[max(0, block.start - _LONGEST_INDENT) : block.start])[-1].expandtabs(4)
        return len(before) - len(before.lstrip(" >"))

    def _leads(self) -> Iterator[str]:
        return (lead for _, lead in self.leads)

    def _part(self, block: Block, kind: PartKind, *below: str) -> Part:
        return Part(self.text[block.start : block.end], block.start, block.end, kind, self._above(*below))

    def _above(self, *below: str) -> str:
        return "\n".join([*(heading for _, heading in self.headings), *filter(None, below)])
