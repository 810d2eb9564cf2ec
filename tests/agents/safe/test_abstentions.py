"""A sentence that says that something cannot be told is no claim; whether it is right is told by the sources."""

from __future__ import annotations

from typing import Any

import pytest

from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.graph import SafePlan
from factloop.agents.safe.grounded import GroundedPlan
from factloop.agents.safe.model_stages import ModelFusedStages
from factloop.agents.safe.paper import PaperPlan
from factloop.agents.safe.state import SentenceTask
from factloop.core.errors import ToolError
from factloop.core.findings import finding_of_silence
from factloop.core.records import NoClaim
from factloop.core.report_warnings import abstention_warnings
from factloop.tools.search.base import SearchHit
from factloop.tools.text.abstentions import is_abstention
from tests.agents.safe.model_parts import CONTEXT, asked_of, evidence, parts
from tests.agents.safe.scripted import FusedScript, GroundedScript, PaperScript, ScriptedSearch, hit, run


class Always(ScriptedSearch):
    """Answers every query alike."""

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        self.answers[query] = self.answers["any"]
        return await super().asearch(query, limit)


SENTENCE = "The documents do not mention the number of weeks."
PLANS = [FusedPlan(FusedScript({})), PaperPlan(PaperScript({})), GroundedPlan(GroundedScript({}), results=5)]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("told", ["Parental leave lasts 16 weeks.", None])
async def test_an_abstention_is_no_claim_and_judged_by_what_is_found(plan: SafePlan, told: str | None) -> None:
    found = [hit(told)] if told else []
    result = await run(plan, SENTENCE, [Always(answers={"any": found})], prompt="How many weeks is the leave?")
    (sentence,) = result.sentences
    assert (result.claims, sentence.no_claim) == ((), NoClaim.ABSTENTION)
    assert finding_of_silence(sentence.no_claim) is None  # no guard stops an honest answer
    assert sentence.abstention is not None
    assert sentence.abstention.is_right is (told is None)
    assert [item.passage for item in sentence.abstention.evidence] == ([told] if told else [])


async def test_a_report_warns_of_an_answer_that_was_missed() -> None:
    told = [hit("Parental leave lasts 16 weeks.", "leave.md")]
    result = await run(FusedPlan(FusedScript({})), SENTENCE, [Always(answers={"any": told})])
    (said,) = abstention_warnings(result.sentences, SENTENCE)
    assert said.startswith(f"“{SENTENCE}” The sources have an answer:")
    assert said.endswith("(leave.md)")


@pytest.mark.parametrize("tools", [[], [Always(answers={"any": ToolError("down", tool="s")})]])
async def test_where_nothing_could_be_asked_it_is_neither_right_nor_wrong(tools: list[Any]) -> None:
    result = await run(FusedPlan(FusedScript({})), SENTENCE, tools)
    (sentence,) = result.sentences
    assert sentence.no_claim == NoClaim.ABSTENTION
    assert sentence.abstention is None or sentence.abstention.is_right is None
    assert (sentence.abstention is None) == (not tools)


@pytest.mark.parametrize(("cited", "is_right", "kept"), [([2], False, ["e2"]), ([], True, []), ([9], True, [])])
async def test_a_model_names_the_passages_that_have_the_answer(
    cited: list[int], is_right: bool, kept: list[str]
) -> None:
    chat, made = parts({"missing": "How many weeks?", "passages": cited, "answer": "16 weeks"})
    task = SentenceTask(SENTENCE, 0, len(SENTENCE))
    found = await ModelFusedStages(*made).abstention(task, [evidence(1), evidence(2)], CONTEXT)
    assert (found.is_right, [item.id for item in found.evidence]) == (is_right, kept)
    assert found.why == ("" if is_right else "16 weeks")
    assert SENTENCE in asked_of(chat)[0]


@pytest.mark.parametrize(
    ("text", "abstains"),
    [
        ("The documents do not mention the number of weeks.", True),
        ("I don't know how long it lasts.", True),
        ("Based on the given context, there is no information about fees in the documents.", True),
        ("The handbook was not written by Ada.", False),
        ("The government report will show airlines haven't fully delivered on service promises.", False),
        ("The policy does not state the fee, but the office is in Oslo.", False),
        ("I know how long it lasts.", False),
    ],
)
def test_what_is_an_abstention(text: str, abstains: bool) -> None:
    assert is_abstention(text) is abstains
