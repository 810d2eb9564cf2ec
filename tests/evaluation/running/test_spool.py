"""Items are looked through once, and stay as they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from factloop.core.errors import DataError
from factloop.core.records import GivenFacts
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.items import RunItem, spooled

ITEM = RunItem("1", "one", "p1", "Who?", "Ada\u2028was\nborn. \U0001f600")
GIVEN = RunItem(
    "2",
    "two",
    "p1",
    None,
    "",
    (GivenFacts(sentence="A.", facts=("a", "b")),),
    ((FactLabel.SUPPORTED, FactLabel.IRRELEVANT),),
)


def test_items_come_back_as_they_were_as_often_as_wanted() -> None:
    with spooled(iter([ITEM, GIVEN])) as spool:
        assert spool.n == 2
        assert list(spool) == [ITEM, GIVEN]
        assert list(spool) == [ITEM, GIVEN]


def test_the_digest_is_of_all_items_whatever_the_limit() -> None:
    with spooled([ITEM, GIVEN]) as whole, spooled(iter([ITEM, GIVEN]), limit=1) as first, spooled([ITEM]) as alone:
        assert list(first) == [ITEM]
        assert (first.n, first.digest) == (1, whole.digest)
        assert alone.digest != whole.digest
        another = [
            replace(ITEM, id="another"),
            replace(ITEM, system="another"),
            replace(ITEM, prompt_id="another"),
            replace(ITEM, prompt="another"),
            replace(ITEM, response="another"),
        ]
        for item in another:
            with spooled([item]) as other:
                assert other.digest != alone.digest
    with spooled([replace(GIVEN, labels=())]) as unlabelled, spooled([GIVEN]) as labelled:
        assert unlabelled.digest != labelled.digest


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (replace(GIVEN, id="1"), "two responses have the id '1'"),
        (replace(ITEM, id="2"), "'one' answers the prompt 'p1' twice, in '1' and '2'"),
        (replace(GIVEN, response="half \ud83d"), "response '2': half a character"),
        (replace(GIVEN, prompt="\ude00"), "prompt of '2': half a character"),
    ],
)
def test_items_that_cannot_be_judged_are_refused(second: RunItem, said: str) -> None:
    with pytest.raises(DataError, match=said):
        spooled([ITEM, second])
    with pytest.raises(DataError, match=said):
        spooled([ITEM, second], limit=1)
