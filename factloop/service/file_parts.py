"""Prints a file's parts as JSON, or the reason why it cannot be read. Runs in its own process, so it imports little.

python -m factloop.service.file_parts FILE MOST_PARTS LONGEST_PART MOST_BYTES

FILE is deleted even if the service that wrote it has ended.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from factloop.core.errors import DataError, FactloopError
from factloop.tools.search.documents.files import find_files, is_compressed
from factloop.tools.search.documents.loaders import load_sections

MOST_UNPACKED = 32_000_000  # bytes of an uncompressed Word, Excel or PowerPoint file


def answer(file: str, *most: int) -> dict[str, Any]:
    """A dictionary with one key: `parts`, `why` (if the file cannot be read) or `not_set_up`."""
    try:
        return {"parts": list(_parts(file, *most))}
    except DataError as error:
        return {"why": error.reason}
    except FactloopError as error:
        return {"not_set_up": str(error)}
    except (BadZipFile, OSError) as error:
        return {"why": f"cannot be read ({getattr(error, 'strerror', None) or error})"}


def _parts(file: str, most: int, longest: int, most_bytes: int) -> Iterator[dict[str, Any]]:
    (path,) = find_files([file]).paths
    if is_compressed(path):
        raise DataError("the file is compressed; unpack it first")
    if is_zipfile(path):
        with ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > MOST_UNPACKED:
                raise DataError(f"the file contains more than {MOST_UNPACKED // 10**6} MB; split the file")
    n_parts = n_bytes = 0
    for number, one in enumerate(load_sections(path), 1):
        if not one.text.strip():
            continue
        text = "\n\n".join(filter(None, (one.section, one.text.strip())))
        n_parts, n_bytes = n_parts + 1, n_bytes + len(text.encode(errors="replace"))
        if n_parts > most:  # the rest of the file is not read
            raise DataError(f"the file has more than {most:,} parts; split the file")
        if len(text) > longest:
            raise DataError(f"one part has more than {longest:,} characters; split the file")
        if n_bytes > most_bytes:  # no request could contain them
            raise DataError(f"the file has more than {most_bytes:,} bytes of text; split the file")
        metadata = {"page": number} if one.fragment.startswith("page=") else {}
        yield {"text": text, "title": one.title, "metadata": metadata}


if __name__ == "__main__":
    try:
        found = answer(sys.argv[1], *map(int, sys.argv[2:]))
    finally:
        with suppress(OSError):
            Path(sys.argv[1]).unlink()
    json.dump(found, sys.stdout)
