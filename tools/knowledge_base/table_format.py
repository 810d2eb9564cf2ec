"""How a table of typed entities lies in SQLite: written by `build`, read by `table`."""

from __future__ import annotations

import re

APPLICATION_ID = 0x666C6B62
"""Marks the file as one of ours."""
FORMAT = 1
"""Raise it whenever the tables or their meaning change: older files are then refused."""

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE type (id INTEGER PRIMARY KEY, name TEXT NOT NULL, entities INTEGER NOT NULL);
CREATE TABLE type_set (id INTEGER PRIMARY KEY, types TEXT NOT NULL, best INTEGER NOT NULL);
CREATE TABLE set_of_type (type INTEGER, type_set INTEGER, PRIMARY KEY (type, type_set)) WITHOUT ROWID;
CREATE TABLE entity (
    id INTEGER PRIMARY KEY, uri TEXT NOT NULL, label TEXT NOT NULL, popularity REAL NOT NULL, type_set INTEGER NOT NULL
);
CREATE TABLE name (folded TEXT, entity INTEGER, PRIMARY KEY (folded, entity)) WITHOUT ROWID;
"""
"""Ids of types count from the most general, ids of entities from the best known, so that both are orders, too. `types`
of a set are its ids with commas; `best` is the id of its best known entity."""

INDEXES = """
CREATE UNIQUE INDEX entity_by_uri ON entity (uri);
CREATE INDEX entity_by_set ON entity (type_set, id);
"""

_DISAMBIGUATION = re.compile(r"\s+\([^()]*\)$")


def plain_label(label: str) -> str:
    """The label as it stands in a sentence: on one line, without the *(film)* that tells it from its namesakes."""
    line = " ".join(label.split())
    return _DISAMBIGUATION.sub("", line) or line
