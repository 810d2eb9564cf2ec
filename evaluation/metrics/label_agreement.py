"""How far verdicts on given facts agree with people's labels, fact by fact (Wei et al. 2024, section 4)."""

from __future__ import annotations

from factloop.records import Record


class LabelAgreement(Record):
    """To come."""
