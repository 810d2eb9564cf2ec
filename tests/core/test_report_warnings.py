"""Warnings that stand in reports say what was measured."""

from __future__ import annotations

import re
from pathlib import Path

from factloop.core.report_warnings import OFFLINE

ACCURACY = Path(__file__).resolve().parents[2] / "docs/accuracy.md"


def test_the_offline_engines_accuracy_is_that_of_the_guide() -> None:
    """The table of held-out balanced accuracies: the least, the best, and the claims of all rows together."""
    offline, _ = ACCURACY.read_text(encoding="utf-8").split("\n## With a model\n")
    cells = re.findall(r"\| (0\.\d\d) (?:\([\d.]+-[\d.]+; )?\(?(\d+)\) \|$", offline, re.MULTILINE)
    held_out = [float(value) for value, _ in cells]
    assert len(held_out) == 4
    assert f"{min(held_out):.2f} to {max(held_out):.2f}" in OFFLINE
    assert f"{sum(int(n) for _, n in cells)} labelled claims" in OFFLINE
