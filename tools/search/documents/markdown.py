"""Reads Markdown as headings, tables and the text between them, which is unchanged except for emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from factloop.tools.search.documents.sections import BELOW_MARKED, Block, Heading, Rows, row_lines
from factloop.tools.text.blocks import is_bold_title, words_in_bold

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_STRUCTURE = re.compile(r"^ {0,3}(?:#|===|---|__)|^[^\n|]*\|", re.MULTILINE)
_STARS = re.compile(r"(?<![\w*\\`])(\*{1,3})(?=[^\s*])([^*`\n]{1,500})(?<=[^\s*\\])\1(?![\w*`])")
"""Matches emphasis of whole words. In nested emphasis, the inner asterisks are matched first."""
_CELL_END = re.compile(r"(?<!\\)\|")
_DELIMITERS = frozenset("|:- \t")
_ENDS = (".", "!", "?", ":", "…")
_UNDERLINES = {"=": 1, "-": 2}


def markdown_blocks(text: str) -> list[Block]:
    """Returns the blocks of a text in reading order, without asterisks for emphasis. Takes linear time."""
    if not _STRUCTURE.search(text) and "*" not in text:
        return [text]
    written = text.split("\n")
    bold = {place: words for place, line in enumerate(written) if (words := words_in_bold(line)) is not None}
    return list(_blocks(list(_without_stars(written)), bold))


def _without_stars(lines: Iterable[str]) -> Iterator[str]:
    """Removes asterisks, which would be noise in a quotation. Code is left unchanged."""
    fence = ""
    for line in lines:
        if mark := _FENCE.match(line):
            fence = mark[1] if not fence else "" if mark[1] == fence else fence
        yield line if fence or "*" not in line else _STARS.sub(r"\2", _STARS.sub(r"\2", line))


def _blocks(lines: Sequence[str], bold: Mapping[int, str]) -> Iterator[Block]:
    prose: list[str] = []
    fence = ""
    place = 0
    while place < len(lines):
        line = lines[place]
        block, after = (None, place + 1) if fence else _block_at(lines, place, bold)
        if block is None:
            prose.append(line)
            if mark := _FENCE.match(line):
                fence = mark[1] if not fence else "" if mark[1] == fence else fence
        else:
            if prose:
                yield "\n".join(prose)
                prose = []
            yield block
        place = after
    if prose:
        yield "\n".join(prose)


def _block_at(lines: Sequence[str], place: int, bold: Mapping[int, str]) -> tuple[Block | None, int]:
    line = lines[place]
    if heading := _HEADING.match(line):
        return Heading(len(heading[1]), heading[2].strip().rstrip("#").strip() or heading[2].strip()), place + 1
    following = lines[place + 1] if place + 1 < len(lines) else ""
    if "|" in line and _is_delimiter(following):
        return _table(lines, place)
    if (level := _underlined(lines, place, following)) is not None:
        return Heading(level, bold.get(place, line.strip())), place + 2
    if place in bold and _stands_alone(lines, place):
        return _bold(bold[place]), place + 1
    return None, place + 1


def _stands_alone(lines: Sequence[str], place: int) -> bool:
    above = lines[place - 1].rstrip() if place else ""
    below = lines[place + 1].lstrip() if place + 1 < len(lines) else ""
    return (not above or above.endswith(_ENDS) or above.lstrip().startswith("#")) and not below[:1].islower()


def _bold(words: str) -> Block:
    """A line that is a sentence or contains a figure becomes text, so that no statement is lost."""
    return Heading(BELOW_MARKED, words) if is_bold_title(words) and not any(map(str.isdigit, words)) else words


def _underlined(lines: Sequence[str], place: int, following: str) -> int | None:
    marks = following.strip()
    is_alone = lines[place].strip() and (place == 0 or not lines[place - 1].strip())
    is_line = len(marks) >= 3 and len(set(marks)) == 1 and marks[0] in _UNDERLINES
    return _UNDERLINES[marks[0]] if is_alone and is_line and any(map(str.isalnum, lines[place])) else None


def _is_delimiter(line: str) -> bool:
    return "|" in line and "-" in line and _DELIMITERS.issuperset(line)


def _table(lines: Sequence[str], place: int) -> tuple[Rows, int]:
    end = place + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    header = _cells(lines[place])
    rows = [_cells(line) for line in lines[place + 2 : end]]
    return Rows(tuple(row_lines(header, rows)) or (" ".join(header),)), end


def _cells(line: str) -> list[str]:
    line = line.strip()
    cells = _CELL_END.split(line)
    first = bool(line.startswith("|"))
    last = len(cells) - (1 if len(cells) > 1 and not cells[-1].strip() else 0)
    return [cell.replace("\\|", "|").strip() for cell in cells[first:last]]
