"""Decides what to do with a sentence after its claims have been judged."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from factloop.core.errors import ConfigError
from factloop.core.findings import Finding, by_gravity
from factloop.core.records import Claim
from factloop.guarding.records import Treatment

_REST_OF_LINE = re.compile(r"[ \t]*\|?[ \t]*(?:\r\n|\n|\r|$)")
_ENDS_BLANK = re.compile(r"(?:\r\n|\n|\r(?!\n))[ \t]*(?:\r\n|\n|\r)\Z")
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*(?:\r\n|\n|\r))+")

Place = tuple[int, Finding]
"""The end of a cell within its row, and the finding on the cell."""
SentenceAction = Literal["annotate", "drop", "replace", "stop"]

REPLACED = "[A sentence that could not be confirmed was left out.]"
ALL_DROPPED = "[Nothing in this answer could be confirmed.]"
STOPPED = "[The answer was stopped here: its last sentence could not be confirmed.]"


@dataclass(frozen=True)
class Stop:
    """Ends the stream, releasing `text` instead of the sentence."""

    text: str = STOPPED


@dataclass(frozen=True)
class Marks:
    """The marks that `annotate` adds after a sentence or table cell. The most serious finding determines the mark."""

    contradicted: str = " [contradicted by the sources]"
    unsupported: str = " [not supported by the sources]"
    unchecked: str = " [not checked]"
    unscored: str = " [unscored]"


Choose = Callable[[str, Sequence[Claim]], str | Stop]
"""Takes a sentence and its claims (possibly none), and returns the text to release instead, or a `Stop`."""


@dataclass(frozen=True)
class Policy:
    """What to do with each sentence. A sentence passes if all its findings are in `passing`."""

    action: SentenceAction | Choose = "annotate"
    replacement: str = REPLACED
    message: str = STOPPED
    marks: Marks = Marks()
    passing: frozenset[Finding] = frozenset()

    def __post_init__(self) -> None:
        if not callable(self.action) and self.action not in get_args(SentenceAction):
            raise ConfigError(
                f"policy = {self.action!r}: must be one of {', '.join(get_args(SentenceAction))}, or a callable"
            )

    @property
    def name(self) -> str:
        return "function" if callable(self.action) else self.action

    def treat(
        self,
        text: str,
        sentence: str,
        claims: Sequence[Claim],
        found: Collection[Finding],
        *,
        is_code: bool = False,
        cells: Sequence[Place] = (),
    ) -> tuple[Treatment, str]:
        """Returns the treatment and the text to release. `text` ends with the sentence, and `found` contains its
        findings. In a table row, the marks go at the ends of `cells`."""
        wanting = frozenset(found) - self.passing
        if not wanting:
            return "passed", text
        if self.action == "annotate":
            if cells:
                return "annotated", self._marked_row(text, len(text) - len(sentence), cells)
            mark = self._mark(wanting)
            return "annotated", f"{text}\n{mark.lstrip()}" if is_code else f"{text}{mark}"
        before = text.removesuffix(sentence)
        if self.action == "drop":
            return "dropped", _without_marker(before)
        if self.action == "replace":
            return "replaced", f"{before}{self.replacement}"
        if self.action == "stop":
            return "stopped", f"{before}{self.message}"
        return self._chosen(self.action(sentence, claims), before, text)

    @staticmethod
    def _chosen(choice: object, before: str, text: str) -> tuple[Treatment, str]:
        if isinstance(choice, Stop):
            return "stopped", f"{before}{choice.text}"
        if not isinstance(choice, str):
            raise ConfigError(f"the policy must return a string or a Stop, not {type(choice).__name__}")
        if not choice:
            return "dropped", _without_marker(before)
        released = f"{before}{choice}"
        return ("passed" if released == text else "replaced"), released

    def _marked_row(self, text: str, start: int, cells: Sequence[Place]) -> str:
        by_end: defaultdict[int, set[Finding]] = defaultdict(set)
        for end, finding in cells:
            if finding not in self.passing:
                by_end[start + end].add(finding)
        for end in sorted(by_end, reverse=True):
            text = f"{text[:end]}{self._mark(by_end[end])}{text[end:]}"
        return text

    def _mark(self, wanting: Collection[Finding]) -> str:
        return str(getattr(self.marks, by_gravity(wanting)[0], self.marks.unchecked))


def _without_marker(before: str) -> str:
    return before[: max(before.rfind("\n"), before.rfind("\r")) + 1]


def marker_of(text: str, sentence: str) -> str:
    """Returns the spaces or list marker before the sentence on its line. `text` ends with the sentence."""
    before = text.removesuffix(sentence)
    return before.removeprefix(_without_marker(before))


def after_blank_line(released: str, text: str) -> str:
    """Prefixes the text with the newlines needed for a blank line after `released`."""
    told = released.rstrip()
    n_ends = len(_LINE_END.findall(released[len(told) :])) if told else 2
    return "\n" * (2 - n_ends) + text


def after_dropped(text: str, released: str, marker: str) -> str:
    """Adjusts the text after a dropped sentence to what has been released.

    If nothing on the line has been released yet, the rest of the line starts with the dropped sentence's `marker`. If
    nothing is left of the line or table row, its newline is dropped as well, and so is a second blank line.
    """
    if released and not released.endswith(("\n", "\r")):
        return text
    rest = _REST_OF_LINE.match(text)
    if rest is None:
        return marker + text.lstrip(" \t")
    text = text[rest.end() :]
    is_blank = not released or _ENDS_BLANK.search(released[-8:]) is not None
    return _BLANK_LINES.sub("", text) if is_blank else text
