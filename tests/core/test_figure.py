from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from factloop.core.figure import Figure, Undefined, ends


def test_every_reason_has_words_of_its_own() -> None:
    said = [reason.words for reason in Undefined]
    assert len({*said}) == len(said)


@pytest.mark.parametrize(
    "fields",
    [
        {"value": None},
        {"value": 0.5, "undefined": Undefined.TOO_FEW},
        {"value": 0.5, "low": 0.4},
        {"value": None, "undefined": Undefined.TOO_FEW, "low": 0.4, "high": 0.6},
    ],
)
def test_half_a_figure_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Figure(n=3, **fields)


def test_a_figure_tells_its_interval_or_why_it_is_undefined() -> None:
    figure = Figure(value=0.5, n=3, **ends((0.4, 0.6)))
    assert (figure.interval, figure.why) == ((0.4, 0.6), "")
    assert Figure(value=0.5, n=3, **ends(None)).interval is None
    assert Figure(value=None, undefined=Undefined.TOO_FEW, n=2).why == "too few"
