"""Parses Markdown into tags and runs of text with their source positions, so that marks can be inserted in the result.
HTML in the source is treated as text, nothing is loaded, and only web addresses become links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from factloop.reports.visible import web_address

LONGEST_LINE_ENDED_ON_PURPOSE = 60
"""After lines of at least this many characters, line breaks are treated as automatic wrapping and ignored."""

_FIRST_HEADING, _LAST_HEADING = 3, 6
"""The levels of a response's headings. The page's own sections use the second level."""

_UNBROKEN = "\n"
_BLANKS = " \t\n"


@dataclass(frozen=True)
class Tag:
    """The start or end of an element, or an empty element."""

    name: str
    closes: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TextRun:
    """A run of text that either copies the source from `start` to `end` or represents that part of it."""

    text: str
    start: int
    end: int
    code: bool = False
    """True for inline code. Code blocks have tags."""
    href: str = ""

    @property
    def is_literal(self) -> bool:
        return self.end - self.start == len(self.text)


Part = Tag | TextRun


def read_markdown(text: str) -> list[Part]:
    """Returns the text's parts in order, with correctly nested tags. The result is deterministic.

    Runs omit what Markdown does not show (emphasis markers, link URLs) and blocks nested too deeply. Callers that must
    show everything have to check for this. `text` must not contain carriage returns or NUL.
    """
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    return list(_with_heading_levels(_blocks(_parser().parse(text), _Source(lines, starts))))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    # A list of sources at the end must be shown, although Markdown treats its lines as definitions.
    parser.disable(["reference", "html_block", "html_inline", "autolink", "text_join"])
    parser.inline.ruler.at("link", partial(_noting_end, link))
    parser.inline.ruler.at("image", partial(_noting_end, image))
    return parser


def _noting_end(rule: Callable[[StateInline, bool], bool], state: StateInline, silent: bool) -> bool:
    found = rule(state, silent)
    if found and not silent:
        state.tokens[-1].meta["end"] = state.pos
    return found


@dataclass(frozen=True)
class _Source:
    lines: Sequence[str]
    starts: Sequence[int]

    def places(self, content: str, first: int) -> list[int]:
        """Returns the source positions of a block's characters and of its end. `first` is the number of the block's
        first line. Each line of the content is a source line without the prefix that makes it part of the block."""
        found: list[int] = []
        for number, line in enumerate(content.split("\n"), first):
            whole = self.lines[number] if number < len(self.lines) else ""
            bare = line if line in whole else line.lstrip()  # a tab that was converted to blanks
            start = self.starts[min(number, len(self.lines))] + max(0, whole.rfind(bare))
            found += [start] * (len(line) - len(bare))
            found += range(start, start + len(bare) + 1)
        return found

    def cell_places(self, content: str, line: int, reached: int) -> list[int]:
        """Like `places`, but for a table cell that starts at or after `reached`. Bars inside a cell are escaped."""
        whole, start = self.lines[line], self.starts[line]
        at = max(whole.find(content.replace("|", "\\|"), max(0, reached - start)), 0)
        found = []
        for character in content:
            at += character == "|"
            found.append(start + at)
            at += 1
        return [*found, start + at]


def _blocks(tokens: Sequence[Token], source: _Source) -> Iterator[Part]:
    cell = row = 0  # the end of the last cell, and its line
    in_table = False
    for token in tokens:
        in_table = token.nesting > 0 if token.type.startswith("table_") else in_table
        first = token.map[0] if token.map else row
        if token.type == "inline" and in_table:
            places = source.cell_places(token.content, first, cell)
            cell, row = places[-1], first
            yield from _inline(token.children or [], token.content, places)
        elif token.type == "inline":
            yield from _inline(token.children or [], token.content, source.places(token.content, first))
        elif token.type in ("fence", "code_block"):
            content = token.content.removesuffix("\n")
            places = source.places(content, first + (token.type == "fence"))
            yield from (Tag("pre"), Tag("code"))
            yield from _runs(content, places)
            yield from (Tag("code", closes=True), Tag("pre", closes=True))
        elif not token.hidden:
            yield _tag(token)


def _tag(token: Token) -> Tag:
    attributes = {}
    if "start" in token.attrs:
        attributes["start"] = str(token.attrs["start"])
    if "style" in token.attrs:  # for a cell: `text-align:right`
        attributes["class"] = f"is-{str(token.attrs['style']).removeprefix('text-align:')}"
    return Tag(token.tag, token.nesting < 0, attributes)


def _inline(tokens: Sequence[Token], content: str, places: Sequence[int]) -> Iterator[Part]:
    at, href = 0, ""
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            line, at = content.rfind("\n", 0, at) + 1, content.index("\n", at)
            is_break = token.type == "hardbreak" or at - line < LONGEST_LINE_ENDED_ON_PURPOSE
            yield Tag("br") if is_break else TextRun(_UNBROKEN, places[at], places[at] + 1)
            while content[at] in _BLANKS:  # blanks at the start of the next line are skipped
                at += 1
        elif token.type == "link_open":
            href, at = web_address(str(token.attrs["href"])) or "", at + 1
        elif token.type == "link_close":
            href, at = "", token.meta["end"]
        elif token.type == "image":
            text = f"[image: {token.content}]"
            yield TextRun(text, places[at], places[token.meta["end"]], href=href)
            at = token.meta["end"]
        elif token.nesting:
            yield Tag(token.tag, token.nesting < 0)
            at += len(token.markup)
        else:
            start, end, at = _extent(token, content, at)
            is_code = token.type == "code_inline"
            yield from (replace(run, code=is_code, href=href) for run in _runs(token.content, places[start : end + 1]))


def _extent(token: Token, content: str, at: int) -> tuple[int, int, int]:
    if token.type == "text_special":  # an escaped character, or an entity
        return at, at + len(token.markup), at + len(token.markup)
    if token.type == "code_inline":
        at += len(token.markup)
        bare = content.startswith(token.markup, at + len(token.content))
        start, end = at + (not bare), at + (not bare) + len(token.content)
        return start, end, end + (not bare) + len(token.markup)
    return at, at + len(token.content), at + len(token.content)


def _runs(text: str, places: Sequence[int]) -> Iterator[TextRun]:
    if len(places) != len(text) + 1:
        yield TextRun(text, places[0], places[-1])
        return
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or places[at] != places[at - 1] + 1:
            yield TextRun(text[start:at], places[start], min(places[at - 1] + 1, places[at]))
            start = at


def _with_heading_levels(parts: Iterator[Part]) -> Iterator[Part]:
    above: list[str] = []
    for part in parts:
        if isinstance(part, TextRun) or part.name not in ("h1", "h2", "h3", "h4", "h5", "h6"):
            yield part
            continue
        if not part.closes:
            above = [*(name for name in above if name < part.name), part.name]
        yield replace(part, name=f"h{min(_FIRST_HEADING - 1 + len(above), _LAST_HEADING)}")
