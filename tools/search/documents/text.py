"""Decodes files as UTF-8, with or without a byte order mark, or as UTF-16 with one. Nothing is guessed."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from factloop.core.errors import DataError
from factloop.core.files.lines import LONGEST_LINE, encoding_of, open_given
from factloop.tools.search.documents.files import is_compressed

_FRONT = re.compile(r"---[ \t]*\n(.{0,20000}?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The compiled loader is ten times faster."""
_NULL = ("", "~", "null")
_URLS = ("url", "source")
_DATES = ("date", "published")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    title: str = ""
    url: str | None = None
    published: str | None = None


NONE = FrontMatter()


def read_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Splits off the front matter of a text, which stays in the text if it is not a YAML mapping."""
    found = _FRONT.match(text) if text.startswith("---") else None
    if found is None:
        return NONE, text
    try:
        said = yaml.load(found[1], _LOADER)
    except (yaml.YAMLError, RecursionError):
        return NONE, text
    if not isinstance(said, Mapping):
        return NONE, text
    named = {name.casefold(): value for name, value in said.items()}
    front = FrontMatter(
        title=_first(named, ("title",)) or "", url=_first(named, _URLS), published=_first(named, _DATES)
    )
    return front, text[found.end() :]


def _first(named: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    values = (named.get(name) for name in names)
    texts = (" ".join(value.split()) for value in values if isinstance(value, str))
    return next((text for text in texts if text.casefold() not in _NULL), None)


_HEAD_BYTES = 4096
_BUFFER_BYTES = 2**17
_NUL_SHARE = 0.1
"""A file with a larger proportion of NULs does not count as text. In other files, NULs are read as spaces."""


def read_text(path: Path) -> str:
    """Raises DataError for binary files and unsupported encodings."""
    data = read_bytes(path)
    _refuse_binary(data[:_HEAD_BYTES], path)
    encoding = encoding_of(data)
    try:
        return data.decode(encoding).replace("\0", " ")
    except UnicodeDecodeError as error:
        raise _undecodable(path, encoding, error.start) from error


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields lines without their endings, numbered from 1. The file may be larger than memory.

    Only a line feed ends a line (a carriage return before it is dropped). Raises the errors of `read_text`, at the
    faulty line.
    """
    with _opened(path) as file:
        head = file.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        _refuse_binary(head, path)
        if encoding_of(head) != "utf-8-sig":
            for number, text in enumerate(io.StringIO(read_text(path), newline="\n"), 1):
                yield number, text.rstrip("\r\n")
            return
        offset = len(file.read(len(codecs.BOM_UTF8))) if head.startswith(codecs.BOM_UTF8) else 0
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise DataError(f"this line is longer than {LONGEST_LINE:,} bytes", path=str(path), line=number)
            try:
                yield number, line.rstrip(b"\r\n").decode("utf-8").replace("\0", " ")
            except UnicodeDecodeError as error:
                raise _undecodable(path, "utf-8", offset + error.start, number) from error
            offset += len(line)


def read_bytes(path: Path) -> bytes:
    """Reads all bytes, decompressed if necessary. Raises DataError if the file cannot be read."""
    with _opened(path) as file:
        return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    try:
        with open_given(path) as plain:
            yield io.BufferedReader(gzip.GzipFile(fileobj=plain), _BUFFER_BYTES) if is_compressed(path) else plain
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"the gzip file is incomplete or damaged: {error}", path=str(path)) from error
    except OSError as error:
        raise DataError(f"cannot read the file ({error.strerror or error})", path=str(path)) from error


def _refuse_binary(head: bytes, path: Path) -> None:
    if encoding_of(head) == "utf-8-sig" and head.count(0) > _NUL_SHARE * len(head):
        raise DataError("the file is binary, or UTF-16 without a byte order mark; save it as UTF-8", path=str(path))


def _undecodable(path: Path, encoding: str, offset: int, line: int | None = None) -> DataError:
    shown = encoding.upper().removesuffix("-SIG")
    advice = f"save it as UTF-8 (for example, `iconv -f WINDOWS-1252 -t UTF-8 {path.name}`)"
    return DataError(
        f"byte {offset} is not {shown}: the file is binary or has another encoding; {advice}", path=str(path), line=line
    )
