"""Extracts the blocks of data from a prompt: `<claim>…</claim>`, `<evidence id="1">…</evidence>`, `<fact-2>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

NAMES = (
    "question", "context", "sentence", "claim", "evidence", "asked", "response", "fact",
    "topic", "options", "answer", "passage", "number", "known", "document", "contradicted", "unproven", "kept", "above",
    "left", "fruitless", "word", "instructions", "mistake", "tried", "request",
)  # fmt: skip

_OPENING = re.compile(rf'<(?P<name>{"|".join(NAMES)})(?P<suffix>-\d{{1,9}})?(?: id="(?P<id>[^"<>]{{0,40}})")?>')


@dataclass(frozen=True)
class Block:
    id: str
    """As the prompt numbers it; empty where it does not."""
    text: str


class Blocks:
    def __init__(self, message: str) -> None:
        self._blocks: dict[str, list[Block]] = {}
        unclosed: set[str] = set()
        position = 0
        while match := _OPENING.search(message, position):
            position = match.end()
            closing = f"</{match['name']}{match['suffix'] or ''}>"
            # A tag found unclosed once is not looked for again, which keeps hostile text linear.
            end = -1 if closing in unclosed else message.find(closing, position)
            if end < 0:
                unclosed.add(closing)
                continue
            block = Block(match["id"] or "", message[position:end].strip())
            self._blocks.setdefault(match["name"], []).append(block)
            position = end + len(closing)

    def __contains__(self, name: str) -> bool:
        return name in self._blocks

    def one(self, name: str) -> str:
        """The text of the first block of that name, or an empty string."""
        blocks = self._blocks.get(name)
        return blocks[0].text if blocks else ""

    def all(self, name: str) -> Sequence[Block]:
        return self._blocks.get(name, [])
