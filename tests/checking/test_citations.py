"""Citations in a rationale can be followed, wherever it is shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from factloop.core.citations import mentioned, named, renumbered
from factloop.core.records import Evidence


def evidence(title: str, source: str = "notes/a.md") -> Evidence:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    return Evidence(id="e", source=source, title=title, passage="p", query="q", rank=1, retrieved_at=moment)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("[3] gives 1931.", "[1] gives 1931."),
        ("Passage 3 gives 1931.", "[1] gives 1931."),
        ("According to passage 5, no.", "According to [2], no."),
        ("[3, 5] agree.", "[1] and [2] agree."),
        ("Passages 3 and 5 agree, [9] does not.", "[1] and [2] agree, another passage does not."),
        ("[Passage 3] says so.", "[1] says so."),
        ("Evidence 3 says so, and [Evidence 5] too.", "[1] says so, and [2] too."),
        ("Nothing says so.", "Nothing says so."),
        ("In [1931] and passage 1815.5 it is plain.", "In [1931] and passage 1815.5 it is plain."),
        ("", ""),
        ("Passage 12 of the Koran is meant.", "Passage 12 of the Koran is meant."),
        ("Passages 3 and 12 agree.", "[1] and another passage agree."),
        ("`arr[0]` is the first, arr[3] the fourth.", "`arr[0]` is the first, arr[3] the fourth."),
        ("m[3][5] is set, f(x)=[3] and y = [3, 5] too.", "m[3][5] is set, f(x)=[3] and y = [3, 5] too."),
        ("Indices [0, 3] hold by [3][5].", "Indices [0, 3] hold by [1][2]."),
    ],
)
def test_numbers_become_those_of_the_passages_that_the_claim_keeps(said: str, kept: str) -> None:
    assert renumbered(said, {3: 1, 5: 2}, n_shown=8) == kept


def test_without_the_passages_titles_stand_for_them() -> None:
    shown = [evidence("Eddystone"), evidence("")]
    assert named("[1] gives 1759, passage 2 1760, [3] nothing.", shown) == (
        "“Eddystone” gives 1759, “notes/a.md” 1760, another passage nothing."
    )


def test_where_no_passage_is_kept_none_is_spoken_of_by_number() -> None:
    assert (
        named("(Passage 1 says so.) Passages 2 and 3, too.", []) == "(another passage says so.) another passage, too."
    )
    assert named("Passage 12 of the Koran is meant.", []) == "Passage 12 of the Koran is meant."


def test_the_passages_that_a_text_speaks_of() -> None:
    first, second = evidence("Eddystone"), evidence("Smeaton")
    assert mentioned("Passage 2 says so, [1] does not, nor [2] elsewhere, nor [9].", [first, second]) == (second, first)
    assert mentioned("Nothing does.", [first]) == ()
