"""Books in EPUB: pages of HTML in a zip file, in the order that its package names."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import unquote
from zipfile import ZipFile

from factloop.core.extras import has_packages, missing

if not has_packages("lxml"):
    raise missing("documents", "reading EPUB")

from lxml import etree

from factloop.tools.search.documents.html import read_html
from factloop.tools.search.documents.sections import Block

_CONTAINER = "META-INF/container.xml"
_LARGEST_PAGE = 50_000_000
"""Bytes: a page that unfolds to more is no chapter."""


@dataclass(frozen=True, slots=True)
class Book:
    title: str
    """Empty if the package has none."""
    blocks: list[Block]


def read_epub(data: bytes) -> Book:
    """The text of a book. Raises ValueError for what is no EPUB, BadZipFile for what is no zip file."""
    with ZipFile(BytesIO(data)) as archive:
        root = _xml(archive, _CONTAINER).find(".//{*}rootfile")
        package_name = "" if root is None else root.get("full-path", "")
        package = _xml(archive, package_name)
        address_of = {item.get("id"): item.get("href", "") for item in package.iterfind("{*}manifest/{*}item")}
        folder = posixpath.dirname(package_name)
        pages = [
            posixpath.normpath(posixpath.join(folder, unquote(address_of[item.get("idref")])))
            for item in package.iterfind("{*}spine/{*}itemref")
            if item.get("idref") in address_of
        ]
        title = package.findtext("{*}metadata/{*}title") or ""
        blocks = [block for page in pages for block in read_html(_text(archive, page)).blocks]
    return Book(" ".join(title.split()), blocks)


def _xml(archive: ZipFile, name: str) -> etree._Element:
    """Parsed without entities and without network: a book is a stranger's file."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(_bytes(archive, name), parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"{name} is no XML: {error}") from error


def _text(archive: ZipFile, name: str) -> str:
    return _bytes(archive, name).decode("utf-8", "replace").replace("\0", " ")


def _bytes(archive: ZipFile, name: str) -> bytes:
    try:
        entry = archive.getinfo(name)
    except KeyError:
        raise ValueError(f"{name} is missing") from None
    if entry.file_size > _LARGEST_PAGE:
        raise ValueError(f"{name} unfolds to {entry.file_size:,} bytes")
    return archive.read(entry)
