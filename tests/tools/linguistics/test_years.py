"""*Five years later* as the year that it is, and as it stands where that is in doubt."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.discourse import context_at
from factloop.tools.linguistics.references import resolve_references

BOOK = "Her only book, *Ice*, appeared in 1907 and was soon read. "


def resolved(claim: str, before: str) -> str:
    return resolve_references(claim, context_at(f"{before}{claim}", len(before), None))


@pytest.mark.parametrize(
    ("claim", "before", "dated"),
    [
        ("Five years later the town honoured Ada Lund.", BOOK, "In 1912 the town honoured Ada Lund."),
        ("Ada Lund sold the house 3 years later.", BOOK, "Ada Lund sold the house in 1910."),
        ("A year earlier Ada Lund had married.", BOOK, "In 1906 Ada Lund had married."),
        ("The following year Ada Lund married.", BOOK, "In 1908 Ada Lund married."),
        ("Two years later Ada Lund sold it.", f"{BOOK}Bo Lund wrote its preface. ", "In 1909 Ada Lund sold it."),
        ("Two years later Ada Lund left.", "On May 3, 1919 a pan blew up. ", "In 1921 Ada Lund left."),
    ],
)
def test_a_year_is_counted_from_the_one_that_was_named(claim: str, before: str, dated: str) -> None:
    assert resolved(claim, before) == dated


def test_a_year_is_counted_from_one_in_its_own_sentence() -> None:
    response = "Ada Lund moved in 1950, and two years later Ada Lund married."
    context = context_at(response, 0, None)
    assert resolve_references("Two years later Ada Lund married.", context) == "In 1952 Ada Lund married."


@pytest.mark.parametrize(
    ("claim", "before"),
    [
        ("Five years later Ada Lund married.", "Ada Lund lived in Oslo from 1901 to 1907. "),  # one of two years
        ("Five years later Ada Lund married.", "Ada Lund (born in 1864) was a painter. "),
        ("Five years later Ada Lund married.", "Ada Lund was tall. "),
        ("Five years later Ada Lund married.", f"{BOOK}A month later it was banned. "),  # from then
        ("Five years later Ada Lund married.", f"{BOOK}It sold. It was red. It was old. "),  # too far back
        ("Five years later Ada Lund married.", "The style of the 1930s was plain. "),
        ("About five years later Ada Lund married.", BOOK),
        ("Five years later, in 1913, Ada Lund married.", BOOK),
        ("Ada Lund lived there until the following year.", BOOK),
    ],
)
def test_it_stays_as_it_stands_where_it_is_in_doubt(claim: str, before: str) -> None:
    assert resolved(claim, before) == claim
