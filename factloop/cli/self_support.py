"""Refuses a text that is among the documents it is checked against: it would be found to support itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from factloop.cli.inputs import STANDARD_INPUT
from factloop.core.errors import ConfigError


def refuse_self_support(text: str, documents: Sequence[str], flag: str) -> None:
    """Raises ConfigError where the file `text` is one of the documents, and DataError where these cannot be found."""
    if not documents or text == STANDARD_INPUT or not Path(text).is_file():
        return
    from factloop.tools.search.documents.files import find_files

    if Path(text).resolve() in {path.resolve() for path in find_files(documents).paths}:
        raise ConfigError(f"{text}: is among the documents ({flag}) and would support itself; keep it elsewhere")
