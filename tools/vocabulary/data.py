"""The files of English words that come with TextBlob."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from factloop.core.errors import ConfigError


def packaged_lines(name: str) -> list[str]:
    """The lines of a file of TextBlob's English data, without comments. Raises ConfigError.

    Read here for two reasons: TextBlob leaves its files open, and to import it brings in all of NLTK, which takes a
    second.
    """
    spec = find_spec("textblob")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder) / "en" / name
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            return [line for line in lines if line.strip() and not line.startswith(";;;")]
    raise ConfigError(f"the installed TextBlob has no {name}: pip install --force-reinstall textblob")


def vocabulary_version() -> str:
    """Names the words, for the fingerprint of a run."""
    return f"textblob {version('textblob')}"
