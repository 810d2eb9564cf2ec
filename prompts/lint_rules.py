"""The rules of `lint`, and how much breaking each costs."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]


class Rule(StrEnum):
    """The rule of a finding. The first ones stop a run before it begins; the others let it run, and hurt it."""

    ENCODING = "encoding"
    LAYOUT = "layout"
    YAML = "yaml"
    FIELDS = "fields"
    NAME = "name"
    VARIABLES = "variables"
    OUTPUT = "output"
    TWICE = "twice"
    """Two files replace one prompt."""

    VERSION = "version"
    """The text changed, the version did not."""
    DATA_AS_INSTRUCTION = "data-as-instruction"
    """Untrusted text outside the user part, among tags of its own kind, or not said to be data."""
    BRACES = "braces"
    """Looks like a placeholder, and is sent as it stands."""
    HEADING = "heading"
    """A second '# user' line: the system part may have ended early."""
    REPEATED = "repeated"
    """A field stands twice in the front matter: the last one counts."""
    HIDDEN = "hidden"
    """Characters that cannot be seen."""
    EMPTY = "empty"
    TOO_LONG = "too-long"
    NOT_READ = "not-read"
    """A file that looks like a prompt and is passed over."""

    @property
    def severity(self) -> Severity:
        """`error` where a run refuses the file, else `warning`."""
        return "error" if self in _STOPS else "warning"


_STOPS = frozenset(
    {Rule.ENCODING, Rule.LAYOUT, Rule.YAML, Rule.FIELDS, Rule.NAME, Rule.VARIABLES, Rule.OUTPUT, Rule.TWICE}
)


class LineFinding(NamedTuple):
    """A finding within a file; ordered by its line, which counts from 1."""

    line: int
    rule: Rule
    message: str


def shown(text: object, longest: int = 40) -> str:
    """A piece of a user's file, short enough for a message of one line."""
    whole = str(text)
    return repr(whole if len(whole) <= longest else f"{whole[:longest]}...")
