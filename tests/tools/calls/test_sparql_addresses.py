from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode, QuerySolutions, Store

from factloop.tools.calls.sparql import iri
from factloop.tools.names.dbpedia import redirect_query

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


@given(st.text(max_size=60))
def test_no_name_changes_what_a_query_asks(name: str) -> None:
    address = iri(RESOURCE + name)
    assert address is not None
    solutions = Store().query(redirect_query(address))
    assert isinstance(solutions, QuerySolutions)
    assert [variable.value for variable in solutions.variables] == ["target"]
    assert iri(address) == address
