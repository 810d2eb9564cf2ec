"""Every day and all year, beside what names some days and seasons."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The museum is open every day.", "The museum is open only on Sundays."),
        ("The shop is open daily.", "The shop is open only at weekends."),
        ("The library opens every day of the week.", "The library opens on Mondays and Fridays only."),
        ("The market takes place every day.", "The market takes place on Saturdays."),
        ("The castle is open every day.", "The castle is open from Monday to Friday."),
        ("The cafe is open every day.", "The cafe is open every day except Mondays."),
        ("The office is open seven days a week.", "The office is open on weekdays."),
        ("The ferry runs all year.", "The ferry runs only in summer."),
        ("The pass is open all year round.", "The pass is open from May to October."),
        ("The bus runs daily.", "The bus runs on Mondays, Wednesdays and Fridays."),
    ],
)
def test_some_days_are_not_every_day(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The museum is open every day.", "The museum is open only on Sundays."),
        ("The shop is open daily.", "The shop is open only at weekends."),
        ("The ferry runs all year.", "The ferry runs only in summer."),
    ],
)
def test_only_on_some_contradicts_every_day(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "contradicted"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The museum is open every day.", "The museum is open daily."),
        ("The museum is open every day.", "The museum is open every day, on Sundays from noon."),
        ("The shop is open on Sundays.", "The shop is open only on Sundays."),
        ("The cafe is open every day.", "The cafe is open every day, and only on Sundays does it serve lunch."),
        ("The pool is open daily.", "The pool is open daily; children may enter only on Sundays."),
        ("The gym is open every day.", "The gym is open from Monday to Sunday."),
        ("The gym is open daily.", "The gym is open on weekdays from 6 to 22 and at weekends from 8 to 20."),
        ("The ferry runs all year.", "The ferry runs all year, twice a day in summer."),
        ("The ferry runs every day in summer.", "The ferry runs every day in summer."),
        ("The market is held every day.", "The market is held every day. The flea market is held only on Saturdays."),
    ],
)
def test_every_day_is_every_day(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == "supported"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The baker bakes bread every day.", "The baker bakes bread in summer."),
        ("The museum is open every day.", "The tower beside the museum is open only on Sundays."),
        ("Staff clean the museum every day.", "The museum, which staff clean, opens only on Sundays."),
        ("The daily paper is sold in the kiosk.", "The paper is sold in the kiosk only on Sundays."),
        ("The market is open every day in May.", "The market is open in May. Some stalls are open on Sundays only."),
        ("She does not work every day.", "She works only on Mondays."),
    ],
)
def test_days_of_something_else_contradict_nothing(claim: str, passage: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label != "contradicted"
