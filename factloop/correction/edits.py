"""Rewords sentences, or removes them with their separators, list markers and surrounding empty lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factloop.correction.sentences import core

Span = tuple[int, int]

_ITEM = re.compile(r"[ \t>]*\(?(?:(?:\d{1,3}|[ivx]{2,5})[.)]|[a-z]\))(?=[ \t])|[ \t>]*[-*+•][ \t]+\[[ xX]\](?=[ \t])")
"""List markers that contain a letter, a digit or a checkbox."""
_LEAD = re.compile(r"[\s>*+–—·•‣▪◦●#|\[({\"'“‘«„「『_~`-]*")
_TAIL = re.compile(r"[\s*_~`|#\"'”’»)\]}」』\\]*")
_STARTS_ANEW = re.compile(r"[ \t]*(?:[-*+–—·•‣▪◦●>#|]|```|~~~|\(?(?:(?:\d{1,3}|[ivx]{2,5})[.)]|[a-z]\))[ \t])")
_BELONGS_ABOVE = re.compile(r"[ \t]*[|:]{0,2}[ \t]*[-=]{2,}[-=|: \t]*\r?")


@dataclass(frozen=True)
class Edit:
    """Replaces `text[start:end]` with `new`."""

    start: int
    end: int
    new: str
    sentences: tuple[int, ...]


def edits_of(text: str, spans: Sequence[Span], wordings: Mapping[int, str]) -> list[Edit]:
    """Returns the edits that apply the new wordings, in order and without overlaps. `spans` contains all sentences,
    and `wordings` maps sentence numbers to new wordings, which are empty for a removal."""
    steps: list[Edit] = []
    for group in _groups(text, spans, wordings):
        first, last = group[0], group[-1]
        start, end = core(text, spans[first][0], spans[last][1])
        steps.append(Edit(start, end, wordings[first], tuple(group)))
    made: list[Edit] = []
    rest = text
    for step in reversed(steps):  # from the end, so that the effect of later removals is known
        if step.new:
            rest = rest[: step.start] + step.new + rest[step.end :]
            made.append(step)
        else:
            before = step.sentences[0] - 1
            start, end = _removed_range(rest, step.start, step.end, floor=spans[before][1] if before >= 0 else 0)
            rest = rest[:start] + rest[end:]
            made.append(_swallowing(start, end, step, made))
    return made[::-1]


def _swallowing(start: int, end: int, step: Edit, made: list[Edit]) -> Edit:
    """Converts a removal to positions in the original text, given the edits after it (last first). A removal includes
    only white space around its sentences, so it may absorb other removals, but never a new wording."""
    sentences = step.sentences
    while made and end > made[-1].start:
        passed = made.pop()
        end += passed.end - passed.start - len(passed.new)
        sentences += passed.sentences
    return Edit(start, end, "", sentences)


def apply(text: str, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    reached = 0
    for edit in edits:
        parts += (text[reached : edit.start], edit.new)
        reached = edit.end
    return "".join([*parts, text[reached:]])


def holds_up(text: str, span: Span) -> bool:
    """Whether the next line only formats this one, like the rule below a table header or a heading."""
    line_start, line_end = _line(text, *span)
    if not (_is_lead(text[line_start : span[0]]) and _TAIL.fullmatch(text, span[1], line_end)):
        return False
    return _BELONGS_ABOVE.fullmatch(text, line_end + 1, _line(text, line_end + 1, line_end + 1)[1]) is not None


def _groups(text: str, spans: Sequence[Span], wordings: Mapping[int, str]) -> list[list[int]]:
    groups: list[list[int]] = []
    for number in sorted(wordings):
        before = groups[-1][-1] if groups else None
        if before is not None and not wordings[number] and not wordings[before]:
            between = text[spans[before][1] : spans[number][0]]
            if not between.strip() and between.count("\n") < 2:
                groups[-1].append(number)
                continue
        groups.append([number])
    return groups


def _removed_range(text: str, start: int, end: int, *, floor: int) -> Span:
    line_start, line_end = _line(text, start, end)
    tail_is_bare = _TAIL.fullmatch(text, end, line_end) is not None
    if line_start < floor or not _is_lead(text[line_start:start]):
        if tail_is_bare:  # the last sentence on its line
            return line_start + len(text[line_start:start].rstrip(" \t")), end
        if not text[end].isspace():  # a closing mark follows, so the space before the sentence is removed
            return line_start + len(text[line_start:start].rstrip(" \t")), end
        return start, _end_of_blanks(text, end)
    if not tail_is_bare:  # the first sentence on its line
        return start, _end_of_blanks(text, end)
    after = min(line_end + 1, len(text))
    goes_on = text[after : _line(text, after, after)[1]].strip() and not _STARTS_ANEW.match(text, after)
    if goes_on and text[line_start:start].strip():  # the marker stays with the rest of its item
        return start, _end_of_blanks(text, after)
    return _lines_range(text, line_start, line_end, after)


def _lines_range(text: str, line_start: int, line_end: int, after: int) -> Span:
    following = len(text) - len(text[after:].lstrip())
    before = text[:line_start].rstrip(" \t\r\n")
    if following == len(text):  # nothing follows: the end of the text stays unchanged
        return (len(before), len(text[:line_end].rstrip("\r"))) if before else (0, len(text))
    gap = text[len(before) : line_start]
    if before and gap.count("\n") < 2:
        return line_start, after
    first_line = text.rfind("\n", after, following) + 1  # the next text keeps its indentation
    return line_start, first_line or after


def _line(text: str, start: int, end: int) -> Span:
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if line_end < 0 else line_end


def _is_lead(part: str) -> bool:
    item = _ITEM.match(part)
    return _LEAD.fullmatch(part, item.end() if item else 0) is not None


def _end_of_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start] in " \t":
        start += 1
    return start
