from __future__ import annotations

import pytest

from factloop.doctor.controls import grade_of
from factloop.doctor.records import Grade


@pytest.mark.parametrize(
    ("n_supported", "n_refused", "grade"),
    [
        (6, 6, "good"),
        (5, 5, "good"),
        (6, 4, "usable_with_care"),
        (4, 4, "usable_with_care"),
        (3, 6, "not_usable"),
        (6, 3, "not_usable"),
    ],
)
def test_a_judge_is_graded_by_the_kind_that_it_does_worse_on(n_supported: int, n_refused: int, grade: Grade) -> None:
    assert grade_of(n_supported, 6, n_refused, 6) == grade
