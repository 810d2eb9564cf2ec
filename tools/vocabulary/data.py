"""The English words and rules that come with TextBlob, without the rest of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from factloop.core.errors import ConfigError


def packaged_lines(name: str) -> list[str]:
    """The lines of a file of TextBlob's English data, without comments. Raises ConfigError.

    Read here, as TextBlob leaves its files open.
    """
    lines = _packaged(f"en/{name}").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(";;;")]


@cache
def packaged_tags() -> Mapping[str, str]:
    """Each word of TextBlob's lexicon, as it is written, with its Penn tags (*NN|JJ*). Raises ConfigError."""
    pairs = (line.split(" ") for line in packaged_lines("en-lexicon.txt"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


@cache
def textblob_module(name: str) -> Any:
    """A module of TextBlob that needs nothing else of it, such as `en/inflect`. Raises ConfigError.

    To import TextBlob itself brings in NLTK, and with it SciPy and scikit-learn where they are installed: two seconds.
    """
    spec = spec_from_file_location(f"{__name__}.{name.replace('/', '_')}", _packaged(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _packaged(name: str) -> Path:
    spec = find_spec("textblob")
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        path = Path(folder) / name
        if path.is_file():
            return path
    raise ConfigError(f"the installed TextBlob has no {name}: pip install --force-reinstall textblob")


def vocabulary_version() -> str:
    """Names the words, for the fingerprint of a run."""
    return f"textblob {version('textblob')}"
