"""A support bot for Larder, an invented backup service. It would ask a model; here it knows three answers by heart,
one of them with a mistake.
"""

from __future__ import annotations

ANSWERS = {
    "When do backups run?": "Backups run every night at 2 a.m. UTC.",
    "Can I cancel?": "You can cancel your subscription at any time.",
    "How long are snapshots kept?": "Larder keeps encrypted snapshots of servers. Snapshots are kept for 90 days.",
}


def answer(question: str) -> str:
    return ANSWERS.get(question, "I do not know.")
