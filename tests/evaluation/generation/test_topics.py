"""Topics for new prompts: the paper's, and those of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.generation.topics import LONGFACT_TOPICS, load_topics


def test_longfact_has_38_topics() -> None:
    """Section 2 of the paper: 38 topics, 2,280 prompts, 30 on each topic in each of two parts."""
    topics = load_topics("longfact")
    assert topics == LONGFACT_TOPICS
    assert len({*topics}) == 38
    assert 2 * 30 * len(topics) == 2280


def test_topics_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text("mycology\n\n  bridges of Leeds \n", encoding="utf-8")
    assert load_topics(tmp_path / "topics.txt") == ("mycology", "bridges of Leeds")
    (tmp_path / "none.txt").write_text("\n", encoding="utf-8")
    for name in ("none.txt", "missing.txt"):
        with pytest.raises(DataError, match=name):
            load_topics(tmp_path / name)
