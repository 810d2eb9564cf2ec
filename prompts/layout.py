"""The layout of a prompt file: front matter between `---` lines, then a `# system` and a `# user` section.

Nothing is validated here. `registry` validates prompts for a run, and `lint` for their authors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from factloop.core.files.placed_yaml import PlainLoader

FIELDS = ("name", "version", "variables", "output", "source")
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

FENCE, SYSTEM, USER = "---\n", "# system\n", "\n# user\n"
_HEAD_END = re.compile(rf"\n{FENCE}\n*{SYSTEM}")


@dataclass(frozen=True)
class Layout:
    """The front matter and the two sections of a file, with the line (from 1) on which each section starts."""

    front_matter: str
    system: str
    user: str
    system_line: int
    user_line: int


def decode_prompt(raw: bytes) -> str:
    """Decodes a file with or without a byte order mark and normalizes line endings. Raises UnicodeDecodeError."""
    return raw.decode("utf-8-sig").replace("\r\n", "\n")


def lay_out(text: str) -> Layout | None:
    """Splits a file into its sections, or returns None if it has another layout. Takes linear time."""
    head = _HEAD_END.search(text, len(FENCE)) if text.startswith(FENCE) else None
    split = text.find(USER, head.end()) if head is not None else -1
    if head is None or split < 0:
        return None
    start = split + len(USER)
    return Layout(
        front_matter=text[len(FENCE) : head.start()],
        system=text[head.end() : split],
        user=text[start:],
        system_line=text.count("\n", 0, head.end()) + 1,
        user_line=text.count("\n", 0, start) + 1,
    )


def read_fields(front_matter: str) -> Any:
    """Parses the YAML fields. The result may be any value, not only a mapping. Raises FrontMatterError."""
    try:
        return yaml.load(front_matter, PlainLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise FrontMatterError(error.problem or "cannot be read", mark.line if mark is not None else 0) from error
    except (yaml.YAMLError, ValueError) as error:  # for example a control character or an impossible date
        raise FrontMatterError(str(error).partition("\n")[0], 0) from error
    except RecursionError as error:
        raise FrontMatterError("nested too deeply", 0) from error


class FrontMatterError(ValueError):
    """The front matter is not valid YAML. `line` is the line within the front matter, starting at 0."""

    def __init__(self, reason: str, line: int) -> None:
        self.line = line
        super().__init__(reason)
