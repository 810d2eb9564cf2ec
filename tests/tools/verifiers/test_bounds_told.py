"""Figures that keep a bound are of the same unit, and no bounds of their own; sums and limits in other words."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

PLAN = "Plan: Team; Storage: 200 GB per user; Max. file size: 2 GB; Version history: 90 days"
INBOX = "The e-mail inbox accepts attachments of up to 20 MB per message. Larger messages bounce. Open 8:00–20:00."
PARCEL = "A parcel may weigh at most 20 kg."
STAFF = "Our support team has 23 people in Leicester and 9 in Porto."
SICK = "You get full pay for the first 6 weeks, then half pay for another 10 weeks."


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("Team goes up to 100 users.", PLAN, "insufficient"),
        ("E-mail attachments may be up to 25 MB per message.", INBOX, "insufficient"),
        ("E-mail attachments may be up to 20 MB per message.", INBOX, "supported"),
        ("Up to 100 people came.", "96 people came.", "supported"),
        ("Up to 100 people came.", "The 96 days were long. People came.", "insufficient"),
        ("A parcel must not weigh more than 20 kg.", PARCEL, "supported"),
        ("A parcel may weigh at most 20 kg.", "A parcel must not weigh more than 20 kg.", "supported"),
        ("A parcel must not weigh more than 30 kg.", PARCEL, "contradicted"),
        ("The support team has 32 people in total.", STAFF, "insufficient"),
        ("The support team has 32 people.", STAFF, "contradicted"),
        ("Sick pay is full for the first 6 weeks and half for another 10 weeks.", SICK, "supported"),
        ("A 20 MB file can be uploaded.", "Plan: Free; Storage: 2 GB; Max. file size: 25 MB", "insufficient"),
        ("The newsletter comes out weekly.", "The newsletter comes out monthly.", "contradicted"),
    ],
)
def test_bounds_sums_and_rhythms(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("A £60 order ships free.", "Orders over £50 ship free.", "supported"),
        ("A £40 order ships free.", "Orders over £50 ship free.", "contradicted"),
        ("A €60 order ships free.", "Orders over £50 ship free.", "insufficient"),
        ("A 20 MB file can be uploaded on the Free plan.", "Plan: Free; Max. file size: 25 MB", "supported"),
        ("A 30 MB file can be uploaded on the Free plan.", "Plan: Free; Max. file size: 25 MB", "contradicted"),
        ("Two people may share a licence.", "Up to three people may share a licence.", "supported"),
        ("Four people may share a licence.", "Up to three people may share a licence.", "contradicted"),
        ("Leave of 12 days needs approval.", "Leave of more than 10 days needs approval.", "supported"),
        ("Leave of 6 days needs approval.", "Leave of more than 10 days needs approval.", "contradicted"),
        ("The parcel weighs 5 kg.", PARCEL, "insufficient"),
        ("The tower is 20 metres tall.", "Towers over 15 metres tall need lights.", "insufficient"),
    ],
)
def test_what_keeps_a_limit_may_be(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label
