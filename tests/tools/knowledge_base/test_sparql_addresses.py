"""Addresses in queries: whatever a name holds, the query stays the one that was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode, QuerySolutions, Store

from factloop.core.errors import ConfigError
from factloop.tools.knowledge_base.dbpedia_queries import class_iri, members_query, path_of, redirect_query
from factloop.tools.knowledge_base.sparql import iri

RESOURCE = "http://dbpedia.org/resource/"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("Kobe_Bryant", "Kobe_Bryant"),
        ("S%C3%A3o_Paulo", "São_Paulo"),
        ("São_Paulo", "São_Paulo"),
        ("Dwayne_%22The_Rock%22_Johnson", "Dwayne_%22The_Rock%22_Johnson"),
        ('Dwayne_"The_Rock"_Johnson', "Dwayne_%22The_Rock%22_Johnson"),
        ("AC/DC", "AC/DC"),
        ("a b\tc\nd", "a%20b%09c%0Ad"),
        ("x>}\\`^|[<{", "x%3E%7D%5C%60%5E%7C%5B%3C%7B"),
        ("50%", "50%25"),
        ("50%zz", "50%25zz"),
        ("%C3%28", "%C3%28"),  # no UTF-8: left as it is
        ("Who%3F", "Who%3F"),
        ("a#b#c", "a#b%23c"),
        ("\u202e\x00\x7f", "%E2%80%AE%00%7F"),
    ],
)
def test_safe_addresses(name: str, safe: str) -> None:
    assert iri(RESOURCE + name) == RESOURCE + safe
    assert iri(RESOURCE + safe) == RESOURCE + safe
    NamedNode(RESOURCE + safe)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "Kobe",
        "ftp://dbpedia.org/x",
        "http://",
        "http:///x",
        "http://a",
        "http://a b/x",
        "http://a>/x",
        "javascript:x",
    ],
)
def test_what_is_no_address(address: str) -> None:
    assert iri(address) is None


def test_bounds_on_addresses() -> None:
    assert iri(RESOURCE + "x" * 600) is None
    assert iri(RESOURCE + "\ud800") is None


@given(st.text(max_size=60))
def test_no_name_changes_what_a_query_asks(name: str) -> None:
    address = iri(RESOURCE + name)
    assert address is not None
    solutions = Store().query(redirect_query(address))
    assert isinstance(solutions, QuerySolutions)
    assert [variable.value for variable in solutions.variables] == ["target"]
    assert iri(address) == address


def test_types_and_paths_become_brackets() -> None:
    assert class_iri("BasketballPlayer") == "<http://dbpedia.org/ontology/BasketballPlayer>"
    assert path_of(["http://a.example/p>", "http://a.example/q"]) == "<http://a.example/p%3E>/<http://a.example/q>"
    for wrong in ([], ["length"]):
        with pytest.raises(ConfigError):
            path_of(wrong)
    assert "LIMIT 1000 }" in members_query(["City"], path_of(["http://a.example/p"]), 99_999)
