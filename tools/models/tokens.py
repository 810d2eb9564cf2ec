"""Estimates token counts for servers that do not report them.

tiktoken is used only if its vocabulary is on disk, because it would download the vocabulary without a timeout.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

CHARACTERS_PER_TOKEN = 4
_VOCABULARIES = {
    "o200k_base": "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
    "cl100k_base": "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
}


def count_tokens(text: str) -> int:
    """Estimates the number of tokens with tiktoken or, without its vocabulary, as a quarter of the text's length."""
    encoding = _encoding()
    if encoding is None:
        return -(-len(text) // CHARACTERS_PER_TOKEN)
    return len(encoding.encode(text, disallowed_special=()))


@cache
def _encoding() -> Encoding | None:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    cached_in = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    for name, url in _VOCABULARIES.items():
        # tiktoken names a cached file after the SHA-1 hash of its URL.
        if (cached_in / hashlib.sha1(url.encode()).hexdigest()).is_file():
            import tiktoken

            return tiktoken.get_encoding(name)
    return None
