"""Rows of tables held against rows of tables."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.rows import verify_answer, verify_row

PLANS = "plan: Solo; price a month: 5 €; storage: 100 GB\nplan: Team; price a month: 29 €; storage: 1 TB"
SHIFTS = "day: Monday; nurse: Ada\nday: Monday; nurse: Bob"


@pytest.mark.parametrize(
    ("claim", "label", "instead"),
    [
        ("Plan: Team; Price: 29 €.", "supported", ""),
        ("Plan: Team; Price per month: €29.", "supported", ""),
        ("Plan: Team; Price a month: 19 €.", "contradicted", "29 €"),
        ("Plan: Team; Storage: 100 GB.", "contradicted", "1 TB"),
    ],
)
def test_a_cell_is_that_of_the_same_row_and_column(claim: str, label: str, instead: str) -> None:
    read = verify_row(claim, ["Larder has plans.", PLANS])
    assert read is not None
    assert (read.label, read.instead, read.cited) == (label, instead, (1,))
    assert read.quote in PLANS


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Model: Kettle; Capacity: 1.7 litres.", "supported"),  # its unit stands above the column
        ("Model: Kettle; Power: 2200 W.", "supported"),
        ("Model: Kettle; Price: £49.", "supported"),
        ("Model: Kettle; Weight: 1.1 kg.", "supported"),  # the source gives no unit
        ("Model: Kettle; Capacity: 1.7 gallons.", "contradicted"),
        ("Model: Kettle; Price: $49.", "contradicted"),
        ("Model: Kettle; Power: 1800 W.", "contradicted"),
    ],
)
def test_a_unit_may_stand_above_its_column(claim: str, label: str) -> None:
    read = verify_row(claim, ["Model: Kettle; Capacity (l): 1.7; Power (W): 2200; Price (GBP): 49; Weight: 1.1"])
    assert read is not None
    assert read.label == label


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Plan: Team; Seats: ten.", "supported"),
        ("Plan: Team; Guests: 2.", "supported"),
        ("Plan: Team; Seats: twelve.", "contradicted"),
        ("Plan: Team; Guests: one.", "contradicted"),
    ],
)
def test_a_number_in_words_is_the_one_in_figures(claim: str, label: str) -> None:
    read = verify_row(claim, ["Plan: Team; Seats: 10; Guests: two"])
    assert read is not None
    assert read.label == label


@pytest.mark.parametrize(
    "claim",
    [
        "Plan: Enterprise; Price: 99 €.",  # no such row
        "Plan: Team; Users: 5.",  # no such column
        "Day: Monday; Nurse: Cleo.",  # two rows of one subject disagree
        "The Team plan costs 19 €.",
        "",
    ],
)
def test_without_the_row_and_its_column_nothing_is_said(claim: str) -> None:
    assert verify_row(claim, [PLANS, SHIFTS]) is None


@pytest.mark.parametrize("claim", ["Plan: Solo; Price: 5 €.", "Plan: Solo; Storage: 100 GB."])
def test_running_text_bears_out_a_row_with_or_without_its_columns(claim: str) -> None:
    text = "The Solo plan costs 5 € a month and has 100 GB of storage."
    assert LexicalVerifier().verify(claim, [text]).label == "supported"


def test_one_of_several_rows_is_enough_to_bear_a_claim_out() -> None:
    assert LexicalVerifier().verify("Day: Monday; Nurse: Bob.", [SHIFTS]).label == "supported"
    assert LexicalVerifier().verify("Plan: Team; Price: 19 €.", [PLANS]).wrong == "19 €"


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Feature: Export; Free: ✓.", "contradicted"),
        ("Feature: Export; Free: check mark.", "contradicted"),
        ("Feature: Export; Free: yes.", "contradicted"),
        ("Feature: Sync; Pro: no.", "contradicted"),
        ("Feature: Sync; Pro: ✗.", "contradicted"),
        ("Feature: Export; Pro: cross.", "contradicted"),
        ("Feature: Export; Free: no.", "supported"),
        ("Feature: Export; Free: –.", "supported"),
        ("Feature: Export; Pro: ✔️.", "supported"),
        ("Feature: Export; Pro: included.", "supported"),
        ("Feature: Sync; Free: cross.", "supported"),
        ("Feature: Sync; Pro: yes.", "supported"),
    ],
)
def test_a_mark_is_the_yes_or_no_of_its_column(claim: str, label: str) -> None:
    read = verify_row(claim, ["Feature: Export; Free: ✗; Pro: ✓\nFeature: Sync; Free: –; Pro: check mark"])
    assert read is not None
    assert read.label == label


WALKS = "Route: Lake loop; Length: 8.5 km; Open: yes; Guide: ✗\nRoute: Ridge walk; Length: 14 km; Open: no; Guide: ✓"


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The Ridge walk is open.", "contradicted"),
        ("The Lake loop is not open.", "contradicted"),
        ("The Lake loop isn't open.", "contradicted"),
        ("The Lake loop has a guide.", "contradicted"),
        ("There is no guide on the Ridge walk.", "contradicted"),
        ("The Ridge walk has no guide.", "contradicted"),
        ("The Lake loop is open.", "supported"),
        ("The Ridge walk is not open.", "supported"),
        ("The Ridge walk has a guide.", "supported"),
        ("The Lake loop has no guide.", "supported"),
        ("No guide is available on the Lake loop.", "supported"),
        ("The Ridge walk isn't open.", "supported"),
    ],
)
def test_a_yes_or_no_answers_a_sentence_on_its_column(claim: str, label: str) -> None:
    read = verify_answer(claim, [WALKS])
    assert read is not None
    assert read.label == label


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The Starter plan has SSO.", "contradicted"),
        ("SSO is included in the Starter plan.", "contradicted"),
        ("The Starter plan does not include SSO.", "supported"),
        ("The Team plan has SSO.", "supported"),
        ("Team has SSO.", "supported"),
    ],
)
def test_the_name_of_its_column_may_stand_with_a_subject(claim: str, label: str) -> None:
    read = LexicalVerifier().verify(claim, ["Plan: Starter; SSO: no\nPlan: Team; SSO: yes"])
    assert read.label == label


@pytest.mark.parametrize(
    "claim",
    [
        "The Ridge walk is open in May.",
        "The route is open.",
        "The Ridge walk may be open.",
        "The Ridge walk was open.",
        "Only the Ridge walk is open.",
        "The Hill path is open.",
        "The walk is open.",
        "The Ridge walk is 14 km long.",
        "The Ridge walk is steep.",
        "Open.",
    ],
)
def test_a_yes_or_no_answers_nothing_else(claim: str) -> None:
    assert verify_answer(claim, [WALKS]) is None


@pytest.mark.parametrize(
    ("claim", "label", "instead"),
    [
        ("Plan: Vast; Agents: unlimited.", "supported", ""),
        ("Plan: Vast; Agents: up to 5.", "contradicted", "unlimited"),
        ("Plan: Vast; Guests: up to 40.", "supported", ""),
        ("Plan: Vast; Guests: up to 4.", "contradicted", "up to 40"),
        ("Plan: Vast; Price: 59 euros.", "supported", ""),  # the one column that is called alike
        ("Plan: Vast; Price: 95 euros.", "contradicted", "€59"),
    ],
)
def test_the_column_of_the_same_name_is_meant(claim: str, label: str, instead: str) -> None:
    row = "Plan: Vast; Price per agent per month: €59; Agents: unlimited; Guests per agent: 3; Guests: up to 40"
    read = verify_row(claim, [row])
    assert read is not None
    assert (read.label, read.instead) == (label, instead)


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Feature: Export; Pro: ✓.", "supported"),
        ("Feature: Export; Free: ✗.", "supported"),
        ("Feature: Search; Pro: ✔️.", "supported"),
        ("Feature: Search; Free: ❌.", "supported"),
        ("Feature: Backups; Free: ◐.", "supported"),
        ("Feature: Export; Free: yes.", "contradicted"),
        ("Feature: Export; Free: ✓.", "contradicted"),
        ("Feature: Export; Pro: ✗.", "contradicted"),
        ("Feature: Search; Free: ✅.", "contradicted"),
        ("Feature: Backups; Free: ●.", "contradicted"),
    ],
)
def test_ticks_and_crosses_are_read(claim: str, label: str) -> None:
    rows = "Feature: Export; Free: ✗; Pro: ✓\nFeature: Search; Free: no; Pro: yes\nFeature: Backups; Free: ◐; Pro: ●"
    read = verify_row(claim, [rows])
    assert read is not None
    assert read.label == label
