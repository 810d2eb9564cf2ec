from __future__ import annotations

import base64
import gzip
from typing import Any

import lxml.html


def held_files(page: str) -> dict[str, str]:
    """The files behind a page's download links: unpacked text by file name."""
    found = {}
    tree: Any = lxml.html.document_fromstring(page)
    for link in tree.xpath("//a[@download]"):
        kind, data = link.get("href").split(";base64,")
        raw, name = base64.b64decode(data), link.get("download")
        is_packed = kind == "data:application/gzip"
        assert name.endswith(".gz") == is_packed
        found[name.removesuffix(".gz")] = (gzip.decompress(raw) if is_packed else raw).decode()
    return found
