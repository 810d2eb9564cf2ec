"""Addresses of the web and of mail, which are the same only where every character is."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|\b(?:https?://|www\.)[^\s<>()\"'”’]{3,200}", re.IGNORECASE
)
_SCHEME = re.compile(r"\A(?:https?://)?(?:www\.)?", re.IGNORECASE)


def missing_address(claim: str, passages: Sequence[str]) -> str:
    """The first address of a claim that stands in no passage, be it with another scheme; empty where all do."""
    wanted = [found.rstrip(".,;:!?/") for found in _ADDRESS.findall(claim)]
    if not wanted:
        return ""
    known = [passage.lower() for passage in passages]
    return next((one for one in wanted if not any(_SCHEME.sub("", one).lower() in text for text in known)), "")
