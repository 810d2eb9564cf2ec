"""The files that a page holds behind its links."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import lxml.html


def held_files(page: str) -> dict[str, str]:
    """The text of each file by the name under which it would be saved, unpacked."""
    found = {}
    tree: Any = lxml.html.document_fromstring(page)
    for link in tree.xpath("//a[@download]"):
        kind, data = link.get("href").split(";base64,")
        raw, name = base64.b64decode(data), link.get("download")
        is_packed = kind == "data:application/gzip"
        assert name.endswith(".gz") == is_packed
        found[name.removesuffix(".gz")] = (gzip.decompress(raw) if is_packed else raw).decode()
    return found
