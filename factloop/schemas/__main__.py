"""Writes the schemas after a change to the records: `python -m factloop.schemas`."""

from __future__ import annotations

from factloop.schemas import FOLDER, generate

for name, text in generate().items():
    (FOLDER / name).write_text(text, encoding="utf-8")
