from __future__ import annotations

import pytest

from factloop.entrance.asks import NO_TEXT, NOTHING_FAITHFUL, NOTHING_TO_SEARCH, nothing_to_judge_by
from factloop.setup.sources import SourceMode


@pytest.mark.parametrize(
    ("documents", "mode", "can_search", "said"),
    [
        (None, "faithfulness", True, NOTHING_FAITHFUL),
        (None, "faithfulness", False, NOTHING_TO_SEARCH),
        (None, "factuality", False, NOTHING_TO_SEARCH),
        (None, "factuality", True, None),
        (None, None, True, None),
        ([" "], "faithfulness", False, NO_TEXT),
        (["Ada."], "faithfulness", False, None),
    ],
)
def test_another_mode_is_offered_only_where_something_is_searched(
    documents: list[str] | None, mode: SourceMode | None, can_search: bool, said: str | None
) -> None:
    assert nothing_to_judge_by(documents, mode, can_search=can_search) == said
