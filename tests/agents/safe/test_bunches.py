from __future__ import annotations

import asyncio
import gc
import warnings
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker
from factloop.agents.safe.fused import BUNCH, BunchedPlan, FusedPlan
from factloop.agents.safe.state import NextQueries, SentenceTask, open_case
from factloop.core.errors import ModelOutputError
from factloop.core.events import ClaimJudged
from factloop.core.records import UnscoredReason
from tests.agents.safe.scripted import FusedScript, Run, ScriptedSearch, fact, nothing_found, run, supported
from tests.agents.safe.test_safe_graph import found
from tests.work import growth

SENTENCES = ("Rome is old.", "Paris is large.", "Oslo is cold.")
RESPONSE = " ".join(SENTENCES)


def script() -> FusedScript:
    return FusedScript(
        {
            SENTENCES[0]: [fact("Rome is old."), fact("Rome is large.")],
            SENTENCES[1]: ModelOutputError("not JSON", schema="x", reply="{"),
            SENTENCES[2]: [fact("Oslo is cold."), fact("rome is old")],
        },
        {
            "Rome is old.": [supported("c1.1-e1")],
            "Rome is large.": [NextQueries(("how large",), missing="its size"), nothing_found()],
            "Oslo is cold.": [ModelOutputError("not JSON", schema="x", reply="{")],
        },
    )


async def judged(plan: FusedPlan) -> Run:
    return await run(plan, RESPONSE, [ScriptedSearch()])


async def test_a_check_that_is_stopped_leaves_no_branch_unawaited() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        async with FactChecker(cache=False) as checker:
            response = " ".join(f"Bo painted {number} pictures." for number in range(20 * BUNCH))
            events = checker.astream(response, documents=["Bo painted 7 pictures."])
            async with aclosing(events):
                await anext(event async for event in events if event.type == "claim_found")
        gc.collect()
    assert [one.message for one in told if "never awaited" in str(one.message)] == []


async def test_claims_are_judged_and_told_of_as_they_are_one_a_branch() -> None:
    alone, bunched = await judged(FusedPlan(script())), await judged(BunchedPlan(script()))
    undated: dict[str, Any] = {"evidence": {"__all__": {"retrieved_at"}}}
    assert [claim.model_dump(exclude=undated) for claim in bunched.claims] == [
        claim.model_dump(exclude=undated) for claim in alone.claims
    ]
    assert [claim.judgement.unscored_reason for claim in bunched.claims] == [
        None,
        None,
        UnscoredReason.PARSE_FAILURE,
        UnscoredReason.PARSE_FAILURE,
        None,
    ]
    told = [
        sorted((one["type"], str(one.get("claim_id") or getattr(one.get("claim"), "id", None))) for one in found.events)
        for found in (alone, bunched)
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize(("n_claims", "n_branches"), [(0, 0), (1, 1), (BUNCH, 1), (BUNCH + 1, 2)])
def test_a_branch_takes_many_claims(n_claims: int, n_branches: int) -> None:
    plan, sentence = BunchedPlan(script()), SentenceTask("x", 0, 1)
    cases = [open_case(found(number, 0), sentence) for number in range(n_claims)]
    assert len(plan.branches(cases)) == n_branches


@pytest.mark.large
def test_a_check_of_twice_the_sentences_takes_twice_the_work(tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("\n\n".join(f"Town {n} has {n} wells." for n in range(400)), encoding="utf-8")
    checker = FactChecker(docs=tmp_path, cache=False)

    def check(n_sentences: int) -> None:
        first = n_sentences * 10  # sentences that were not parsed before
        text = " ".join(f"Town {n} has {n + n % 2} wells." for n in range(first, first + n_sentences))
        assert len(asyncio.run(checker.acheck(text)).claims) == n_sentences

    assert growth(check, 100, times=2) < 2.2


async def test_claims_are_told_of_while_others_are_still_to_be_judged() -> None:
    search = ScriptedSearch()
    n_claims = 10 * BUNCH
    text = " ".join(f"Town {n} has {n} wells." for n in range(n_claims))
    async with FactChecker(search=[search], cache=False) as checker, aclosing(checker.astream(text)) as events:
        asked = [len(search.asked) async for event in events if isinstance(event, ClaimJudged)]
    assert len(asked) == n_claims
    assert asked[0] < n_claims / 2 < asked[-1]
