"""spaCy pipelines: one that the user names, whose parser replaces the rules that split; or a blank English one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factloop.core.errors import ConfigError
from factloop.core.extras import require

if TYPE_CHECKING:
    from spacy.language import Language


def load_pipeline(name: str | None) -> Language:
    """The spaCy pipeline `name` (an installed package or a folder); a blank English one for None.

    spaCy is imported here, which takes about two seconds. Raises ConfigError where the model is missing or unreadable,
    and without the extra `spacy`.
    """
    require("spacy", "a spaCy pipeline")
    import spacy

    if name is None:
        return spacy.blank("en")
    try:
        return spacy.load(name)
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(
            f"spaCy pipeline {name!r} cannot be loaded: install it (python -m spacy download NAME), give the path of "
            "its folder, or leave the setting out to use the rules"
        ) from error
