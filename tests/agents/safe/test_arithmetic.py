"""The arithmetic that judges show is recomputed."""

from __future__ import annotations

import pytest

from factloop.agents.safe.arithmetic import miscalculated


@pytest.mark.parametrize(
    "reason",
    [
        "[1] says 5 leagues and [2] 5 cups: 5 + 5 = 10 trophies.",
        "2026 - 1990 = 36 years",
        "1990–2026 = 36",
        "7000 + 2000 = 9,000 years",
        "16 weeks × 7 days = 110 days",
        "1 week + 2 days = 9 days",
        "3.5 * 2 = 7; 1,250.5 + 0.5 = 1,251",
        "10 / 3 = 3.33 and 10 / 3 = 3",
        "5 / 20 = 25%",
        "€1.234,50 + €0,50 = €1.235",
        "1 234 x 2 is not read, nor is 2 + x = 5",
        "ISO 9001-2 = the second part",
        "12.3.2020 - 11.3.2020 = 1 day",
        "1,234 + 1,111 = 2,300",
        "6 / 0 = 4",
        "2 × 500 million = 1 billion",
        "$1.2 million + $300,000 = $1.5 million",
        "1.5 million + 500,000 = 2 million",
        "3/4 = 75 percent",
        "2 × 12 months = 2 years",
        "17:00 − 2 hours = 15:00",
        "2024-05-01 = 1 May 2024",
        "3^2 + 1 = 10, (3 + 1)^2 = 16",
        "10% of 200 + 5 = 25",
        "5 + 5 + 1 = 10 + 1",
        "5 km + 3 = 8 miles",
        "https://a.example/2+2=5",
    ],
)
def test_what_is_right_or_cannot_be_read_passes(reason: str) -> None:
    assert miscalculated(reason) is None


@pytest.mark.parametrize(
    ("reason", "correction"),
    [
        ("[1] gives 12 × 4 = 46 lamps.", "12 × 4 is 48, not 46 lamps"),
        ("5 + 5 = 11 trophies", "5 + 5 is 10, not 11 trophies"),
        ("2 + 3 * 4 = 20", "2 + 3 * 4 is 14, not 20"),
        ("2026 - 1990 = 46 years", "2026 - 1990 is 36, not 46 years"),
        ("1,250 + 750 = 2,100 km", "1,250 + 750 is 2,000, not 2,100 km"),
        ("5 + 6 = 10", "5 + 6 is 11, not 10"),
        ("5 / 20 = 20%", "5 / 20 is 0.25, not 20%"),
    ],
)
def test_a_wrong_result_is_corrected(reason: str, correction: str) -> None:
    assert miscalculated(reason) == correction
