"""The assistant under test. It would ask a model; here it knows two answers by heart, one of them with a mistake."""

from __future__ import annotations

ANSWERS = {
    "Who was Trigreth Ribeix?": "Trigreth Ribeix was born in the town of Jizein. Trigreth Ribeix studied "
    "meteorology at Truram House. Trigreth Ribeix received the Jezeilt Prize in 1708.",
    "Who was Crijiask Neifoth?": "Crijiask Neifoth taught astronomy until 1851. Crijiask Neifoth "
    "received the Jezeilt Prize in 1929.",
}


def answer(question: str) -> str:
    return ANSWERS[question]
