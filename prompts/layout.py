"""How a prompt's file is laid out: front matter between `---` lines, then a `# system` and a `# user` part.

Nothing is validated here: `registry` validates prompts for a run, `lint` for their authors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

FIELDS = ("name", "version", "variables", "output", "source")
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

FENCE, SYSTEM, USER = "---\n", "# system\n", "\n# user\n"
_HEAD_END = re.compile(rf"\n{FENCE}\n*{SYSTEM}")


@dataclass(frozen=True)
class Layout:
    """The three parts of a file, and the lines (from 1) on which the last two begin. The front matter's is 2."""

    front_matter: str
    system: str
    user: str
    system_line: int
    user_line: int


def decode_prompt(raw: bytes) -> str:
    """The text of a file, with or without byte order mark, its line ends plain. Raises UnicodeDecodeError."""
    return raw.decode("utf-8-sig").replace("\r\n", "\n")


def lay_out(text: str) -> Layout | None:
    """The parts of a file, in time linear in its length; None where it is not laid out as a prompt."""
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
    """The fields in YAML, usually a mapping. Raises FrontMatterError."""
    try:
        return yaml.safe_load(front_matter)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise FrontMatterError(error.problem or "cannot be read", mark.line if mark is not None else 0) from error
    except (yaml.YAMLError, ValueError) as error:  # a control character, an impossible date or number
        raise FrontMatterError(str(error).partition("\n")[0], 0) from error
    except RecursionError as error:
        raise FrontMatterError("nested too deeply", 0) from error


class FrontMatterError(ValueError):
    """The front matter is not valid YAML; `line` counts from 0 within it."""

    def __init__(self, reason: str, line: int) -> None:
        self.line = line
        super().__init__(reason)
