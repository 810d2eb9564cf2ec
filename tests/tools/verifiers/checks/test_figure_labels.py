"""Figures that say right after them what they are of: *€4 (Starter), €3 (Team)*."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.lexical import LexicalVerifier

SEATS = "Extra seat: €4 per month (Starter), €3 per month (Team)"
TICKETS = "Tickets cost £8 (adults) and £5 (children)."


@pytest.mark.parametrize(
    ("claim", "passage", "label"),
    [
        ("An extra seat costs €3 per month on Team.", SEATS, "supported"),
        ("An extra seat costs €4 per month on Starter.", SEATS, "supported"),
        ("An extra seat costs €4 per month.", SEATS, "supported"),
        ("An extra seat costs €4 per month on Team.", SEATS, "contradicted"),
        ("An extra seat costs €3 per month on Starter.", SEATS, "contradicted"),
        ("Tickets cost £5 for children.", TICKETS, "supported"),
        ("Tickets cost £8 for adults.", TICKETS, "supported"),
        # names before their figures
        ("Lund has 9 goals.", "Top scorers: Berg (12 goals), Lund (9 goals), Dahl (7 goals).", "supported"),
        ("The Team plan costs €3.", "Starter (€4), Team (€3), Pro (€9).", "supported"),
        ("Children pay £6.", "Admission: adults, £12; children, £6; seniors, £9.", "supported"),
        ("Coffee costs £3.", "Tea – £2, coffee – £3, juice – £4", "supported"),
    ],
)
def test_a_figure_is_of_the_label_after_it(claim: str, passage: str, label: str) -> None:
    assert LexicalVerifier().verify(claim, [passage]).label == label


def test_the_figure_of_another_label_bears_nothing_out() -> None:
    assert LexicalVerifier().verify("Tickets cost £8 for children.", [TICKETS]).label != "supported"
