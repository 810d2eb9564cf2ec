from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from factloop.checking.views.segments import segments
from factloop.core.records import Claim
from tests.reports.sample import make_report, sample_claims

MODEL = sample_claims()[0]


def claim_at(number: int, start: int, end: int) -> Claim:
    return MODEL.model_copy(update={"id": f"c{number}", "span": (start, end)})


def cut(response: str, *spans: tuple[int, int]) -> list[tuple[str, list[str]]]:
    claims = tuple(claim_at(number, *span) for number, span in enumerate(spans, 1))
    return [(part.text, [claim.id for claim in part.claims]) for part in segments(make_report(response, claims))]


def test_claims_of_one_sentence_share_a_segment() -> None:
    assert cut("One. Two!", (5, 9), (0, 4), (5, 9)) == [("One.", ["c2"]), (" ", []), ("Two!", ["c1", "c3"])]


def test_a_response_without_claims_is_one_segment() -> None:
    assert cut("I don't know.") == [("I don't know.", [])]
    assert cut("") == []


def test_overlapping_and_stray_spans_show_each_character_once() -> None:
    assert cut("abcdef", (0, 4), (2, 6)) == [("abcd", ["c1"]), ("ef", ["c2"])]
    assert cut("abcdef", (0, 4), (1, 3)) == [("abcd", ["c1"]), ("ef", [])]
    assert cut("abc", (1, 99), (50, 60), (2, 2)) == [("a", []), ("bc", ["c1"])]


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6))
def test_no_character_is_lost_or_doubled(response: str, spans: list[tuple[int, int]]) -> None:
    ordered = [(min(span), max(span)) for span in spans]
    assert "".join(text for text, _ in cut(response, *ordered)) == response


def test_the_row_of_a_table_comes_with_the_head_of_its_table() -> None:
    response = "Plans.\n\n| Plan | Price |\n|---|---|\n| Team | 19 |\n\nTeam is 19."
    start, last = response.index("Team"), response.index("Team is")
    parts = segments(make_report(response, (claim_at(1, start, start + 9), claim_at(2, last, last + 11))))
    assert [(part.text, part.table_head) for part in parts if part.claims] == [
        ("Team | 19", "Plan | Price"),
        ("Team is 19.", None),
    ]
