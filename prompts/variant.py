"""Copies a prompt to a user's folder as a new variant, and summarizes the changes between two versions."""

from __future__ import annotations

import re
import textwrap
from difflib import SequenceMatcher
from pathlib import Path

import yaml

from factloop.core.errors import ConfigError
from factloop.prompts.registry import Prompt, packaged_prompts, read_variant

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LONGEST_CHANGES, SHORTEST_CHANGE, MOST_CHANGES, SAME_WORDS = 240, 30, 8, 3
"""Limits on the changes shown: total length, length of each, number, and number of equal words between two changes."""


def find_source(word: str) -> Prompt:
    """Finds a packaged prompt by name, or reads a file that contains a variant of one. Raises ConfigError."""
    if word in packaged_prompts():
        return packaged_prompts()[word]
    path = Path(word)
    if not path.is_file():
        raise ConfigError(
            f"{word} is neither a packaged prompt nor a file; run `factloop prompts list` to see the names"
        )
    return read_variant(path)


def start_variant(variant: str, source: Prompt, folder: Path) -> Prompt:
    """Copies `source` to `folder/variant/<name of the prompt>.md`, with a new version and a note about its origin.

    A variant may contain several prompts: all those in its folder. Raises ConfigError if the variant's name is not a
    plain file name, or if the file already exists or cannot be written.
    """
    if _NAME.fullmatch(variant) is None:
        raise ConfigError(f"{variant!r} may contain only letters, digits and, except at the start, '.', '_' and '-'")
    path = folder / variant / f"{source.name}.md"
    text = variant_text(variant, source)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{error.filename} already exists and will not be overwritten; use another name") from error
    except OSError as error:
        raise ConfigError(f"cannot write {path} ({error.strerror or error})") from error
    return read_variant(path)


def variant_text(variant: str, source: Prompt) -> str:
    origin = f"Variant {variant} of version {source.version} ({source.sha256[:16]}). {source.source}"
    fields = {
        "name": source.name,
        "version": source.version + 1,
        "variables": list(source.variables),
        "output": source.output,
        "source": origin,
    }
    front_matter = yaml.safe_dump(fields, sort_keys=False, default_flow_style=None, allow_unicode=True, width=10**6)
    return f"---\n{front_matter}---\n# system\n{source.system}\n# user\n{source.user}\n"


def changed_words(before: str, after: str) -> str:
    """Returns the added words or, if there are none, the removed ones: `“each” − “so”`. Shortens long lists."""
    old, new = before.split(), after.split()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    same = [one for one in blocks if one.size >= SAME_WORDS or one is blocks[-1]]
    starts = [(0, 0), *((one.a + one.size, one.b + one.size) for one in same)]
    changes = [(old[i : one.a], new[j : one.b]) for (i, j), one in zip(starts, same, strict=False)]
    signed = [("" if put else "− ", " ".join(put or out)) for out, put in changes if put or out]
    longest = max(SHORTEST_CHANGE, LONGEST_CHANGES // max(1, len(signed)))
    shown = [f"{sign}“{textwrap.shorten(text, longest, placeholder='…')}”" for sign, text in signed[:MOST_CHANGES]]
    return " ".join([*shown, *(["…"] if len(signed) > MOST_CHANGES else [])])
