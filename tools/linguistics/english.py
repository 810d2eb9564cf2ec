"""The libraries of the extra `offline`: a dictionary of English with its lemmas, and numbers out of words."""

from __future__ import annotations

from functools import partial

from factloop.core.extras import is_installed, missing

if not is_installed("offline"):
    raise missing("offline", "reading English by rules")

import simplemma
from text_to_num import alpha2digit  # type: ignore[import-untyped]  # ships no type hints

is_known = partial(simplemma.is_known, lang="en")
"""Whether the dictionary has a word, which is as a text spells it."""
lemmatize = partial(simplemma.lemmatize, lang="en")
"""The form under which the dictionary has a word; the word itself where it has none."""


def in_figures(text: str) -> str:
    """The text, with its numbers in figures: *two hundred* as 200.

    Halves of surrogate pairs, which JSON may hold and the library refuses, come back as question marks.
    """
    try:
        figures: str = alpha2digit(text, lang="en")
    except UnicodeEncodeError:
        figures = alpha2digit(text.encode(errors="replace").decode(), lang="en")
    return figures
