"""Units, currencies, times of day, how often, and the two ends of a span."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.clocks import times_of
from factloop.tools.verifiers.lexical import LexicalVerifier

CABLE = "The cable is 1.5 m long."
LUNCH = "Lunch is €12."
FUND = "The fund holds £40 million."
SHOP = "The shop opens at 9 a.m. and closes at 6 p.m."
BACKUPS = "Backups run nightly at 2 am."
NOTICE = "Notice must be given 14 days before the end of the term."
FAIR = "The fair runs from 3 March to 17 April."
DISK = "The disk holds 2,000 GB."
LATE = "The shop closes at 17:30."
BEFORE = "The kit has a cable and a plug. Lunch is served in the garden. The fund was set up in 2012."
AFTER = "The plug is white. The shop sells coffee. Backups are kept for 14 days. The fair is held in the old hall."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


def pages(passage: str) -> list[str]:
    return [passage, f"{BEFORE} {passage} {AFTER}"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The cable is 1.5 km long.", CABLE),
        ("The cable is 1.5 cm long.", CABLE),
        ("The cable is 1.5 inches long.", CABLE),
        ("The path is 12 m long.", "The path is 12 km long."),
        ("Lunch is 12 pounds.", LUNCH),
        ("Lunch is 12 euros.", "Lunch is £12."),
        ("The fund holds $40 million.", FUND),
        ("The shop opens at 9 pm.", SHOP),
        ("The shop closes at 6 am.", SHOP),
        ("The shop closes at 5:30 am.", LATE),
        ("Backups run nightly at 2 pm.", BACKUPS),
        ("Backups run weekly at 2 am.", BACKUPS),
        ("Notice must be given 14 days after the end of the term.", NOTICE),
        ("The fair starts on 17 April.", FAIR),
        ("The fair ends on 3 March.", FAIR),
        ("Work began in 2015.", "Work went on between 2012 and 2015."),
        ("The desk opens at 6 pm.", "The desk: Monday to Friday, 8 am to 6 pm."),
        ("The disk holds 3 TB.", DISK),
        ("The disk holds 2,000 MB.", DISK),
    ],
)
def test_another_unit_or_time_bears_nothing_out(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label != "supported" for page in pages(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The cable is 1.5 m long.", CABLE),
        ("The cable is 1.5 metres long.", CABLE),
        ("The cable is 150 cm long.", CABLE),
        ("Lunch is 12 euros.", LUNCH),
        ("Lunch is 12 pounds.", "Lunch is £12."),
        ("The fund holds 40 million pounds.", FUND),
        ("The shop opens at 9 am.", SHOP),
        ("The shop opens at 9:00.", "The shop opens at 9 am."),
        ("The shop closes at 6 pm.", SHOP),
        ("The shop closes at 5:30 pm.", LATE),
        ("The shop closes at 17:30.", "The shop closes at 5:30 pm."),
        ("The shop closes at 17:30.", LATE),
        ("Backups run nightly at 2 am.", BACKUPS),
        ("Notice must be given 14 days before the end of the term.", NOTICE),
        ("The fair starts on 3 March.", FAIR),
        ("The fair ends on 17 April.", FAIR),
        ("The fair runs from 3 March to 17 April.", FAIR),
        ("The disk holds 2 TB.", DISK),
        ("The disk holds 2,000 GB.", "The disk holds 2 TB."),
        ("The bag weighs 5 pounds.", "The bag weighs 5 pounds."),
    ],
)
def test_the_same_in_other_words_does(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label == "supported" for page in pages(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The shop opens at 9 am.", "The shop opens at 9."),
        ("The desk is open at 9 am.", "The desk is open from 9 am to 9 pm."),
        ("The lab opens at 8 am.", "The lab is open from 8 to 11 am."),
        ("The fair opens in March.", "The fair runs from March to April. The small fair opens in May."),
    ],
)
def test_what_may_be_one_time_is_not_contradicted(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label != "contradicted" for page in pages(passage))


@pytest.mark.parametrize(
    ("text", "minutes", "is_sure"),
    [
        ("at 12 am", 0, True),
        ("at 12 pm", 720, True),
        ("at 9.30 p.m. or so", 1290, True),
        ("at 09:05", 545, True),
        ("at 9:05", 545, False),
        ("at 23:59", 1439, True),
    ],
)
def test_a_time_is_a_minute_of_the_day(text: str, minutes: int, is_sure: bool) -> None:
    assert [(one.minutes, one.is_sure) for one in times_of(text)] == [(minutes, is_sure)]


@pytest.mark.parametrize("text", ["I am 13 am I", "a ratio of 3:1", "version 1:02:03", "9 amps", "13 pm", "at 24:00"])
def test_what_is_no_time(text: str) -> None:
    assert list(times_of(text)) == []
