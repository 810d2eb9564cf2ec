"""Denials without a *not* before the verb: *only others*, *unless*, *non-*, *excluded from*, and what has ended."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

ONLY = "Only owners may delete a workspace."
UNLESS = "Invoices are sent unless you opt out."
FINAL = "Orders are final sale and non-refundable."
CARDS = "Gift cards are excluded from returns."
CODES = "Codes come from an app; codes by SMS were switched off in September 2025."
PORTAL = "Requests go through the Odin portal, never by e-mail."
FREE = "The service was free until May 2024."
SERRA = "Before 2025 the team was run by Luke Serra."
FEE = "The night fee was abolished in 2024."
BEFORE = "A workspace holds up to 50 projects. Admins may invite members. Orders are shipped within two days."
AFTER = "A deleted workspace is kept for 30 days. Owners may invite admins. Requests are answered within a day."


@pytest.fixture(scope="module")
def verifier() -> LexicalVerifier:
    return LexicalVerifier()


def pages(passage: str) -> list[str]:
    return [passage, f"{BEFORE} {passage} {AFTER}"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Admins may delete a workspace.", ONLY),
        ("Invoices are sent if you opt out.", UNLESS),
        ("Orders are refundable.", FINAL),
        ("Orders are refundable.", "Orders are non-refundable."),
        ("Gift cards can be returned.", CARDS),
        ("Students pay the fee.", "Students are exempt from the fee."),
        ("You can get codes by SMS.", CODES),
        ("Codes are sent by SMS.", "Codes by SMS were discontinued in 2025."),
        ("Codes by SMS are available.", "Codes by SMS have been withdrawn."),
        ("There is a night fee.", FEE),
        ("Requests go by e-mail.", PORTAL),
        ("The service is free.", FREE),
        ("Luke Serra runs the team today.", SERRA),
        ("Luke Serra leads the team.", "Until 2025 Luke Serra led the team."),
    ],
)
def test_a_denial_in_other_words_bears_nothing_out(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label != "supported" for page in pages(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Owners may delete a workspace.", ONLY),
        ("Only owners may delete a workspace.", ONLY),
        ("Admins may delete a workspace.", "Only owners and admins may delete a workspace."),
        ("Admins may delete a project.", "Only owners may delete a workspace. Admins may delete a project."),
        ("Invoices are sent unless you opt out.", UNLESS),
        ("Invoices are sent if you do not opt out.", UNLESS),
        ("Invoices are not sent if you opt out.", "Invoices are not sent if you opt out."),
        ("Orders are not refundable.", FINAL),
        ("Orders are non-refundable.", FINAL),
        ("The pan has a non-stick coating.", "The pan has a non-stick coating."),
        ("The pan has a coating.", "The pan has a non-stick coating."),
        ("Gift cards cannot be returned.", CARDS),
        ("Gift cards are excluded from returns.", CARDS),
        ("Codes come from an app.", CODES),
        ("Codes by SMS were switched off in September 2025.", CODES),
        ("Codes are sent by e-mail.", "Codes by SMS were switched off. Codes are sent by e-mail."),
        ("The night fee was abolished.", FEE),
        ("There is no night fee.", FEE),
        ("Requests go through the Odin portal.", PORTAL),
        ("Requests never go by e-mail.", PORTAL),
        ("The service was free until May 2024.", FREE),
        ("The service is free.", "The service was slow until May 2024. The service is free."),
        ("Security fixes are provided until March 2026.", "Security fixes will be provided until March 2026."),
        ("Luke Serra ran the team before 2025.", SERRA),
    ],
)
def test_what_a_denial_in_other_words_leaves(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label == "supported" for page in pages(passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Invoices are not sent if you opt out.", UNLESS),
        ("Admins may not delete a workspace.", ONLY),
        ("The museum is open.", "The museum was closed until May 2024."),
        ("The line is open.", "The line was closed in 2001, and opened again in 2010."),
    ],
)
def test_what_agrees_is_not_contradicted(verifier: LexicalVerifier, claim: str, passage: str) -> None:
    assert all(verifier.verify(claim, [page]).label != "contradicted" for page in pages(passage))
