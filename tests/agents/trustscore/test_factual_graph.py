"""TrustFC as a graph: the query, the passages, and what is said where either step fails."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import PrivateAttr

from factloop.agents.trustscore.graph import build_factual_graph
from factloop.agents.trustscore.records import Relation, TrustFC
from factloop.agents.trustscore.stages import PassageJudgement
from factloop.core.errors import (
    BudgetExceeded,
    ConfigError,
    FactloopError,
    ModelOutputError,
    ModelRefusal,
    ToolError,
)
from factloop.core.records import UnscoredReason
from factloop.tools.search.base import SearchHit, SearchTool
from tests.agents.trustscore.scripted import QUESTION, RESPONSE, ScriptedJudge, run, searching_over

QUERY = '"King Solomon built it." correctly answers the question of "Who built the first temple?"'
HITS = [SearchHit(source=f"corpus#{number}", title="Temple", passage=f"Passage {number}.") for number in range(1, 4)]


class ScriptedCorpus(SearchTool):
    """Finds the same for every query, or fails."""

    name: str = "corpus"
    description: str = "A corpus."
    found: Any = HITS
    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def identity(self) -> str:
        return "corpus"

    @property
    def asked(self) -> list[str]:
        return self._asked

    def search(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - abstract, and never called
        raise AssertionError("the graph searches asynchronously")

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        self._asked.append(query)
        if isinstance(self.found, Exception):
            raise self.found
        hits: list[SearchHit] = self.found[:limit]
        return hits


async def trust_fc(
    corpus: ScriptedCorpus, judge: ScriptedJudge, *, response: str = RESPONSE, question: str = QUESTION
) -> TrustFC:
    graph = build_factual_graph(searching_over(corpus), judge)
    final = await run(graph, {"question": question, "response": response})
    found: TrustFC = final["trust_fc"]
    return found


def finding(relation: Relation, *cited: int) -> ScriptedJudge:
    return ScriptedJudge(PassageJudgement(relation, "By what it says.", cited))


@pytest.mark.parametrize(
    ("relation", "value"), [(Relation.SUPPORT, 1.0), (Relation.NEUTRAL, 0.5), (Relation.CONTRADICT, 0.0)]
)
async def test_a_relation_and_its_value(relation: Relation, value: float) -> None:
    result = await trust_fc(ScriptedCorpus(), finding(relation, 2, 0))
    assert (result.relation, result.value, result.unscored_reason) == (relation, value, None)
    assert (result.rationale, result.judged_by) == ("By what it says.", "judge")
    assert result.cited == ("p3", "p1")
    assert [(item.id, item.rank, item.passage) for item in result.passages] == [
        ("p1", 1, "Passage 1."),
        ("p2", 2, "Passage 2."),
        ("p3", 3, "Passage 3."),
    ]
    assert {item.query for item in result.passages} == {result.query}


async def test_the_query_is_that_of_the_paper() -> None:
    corpus, judge = ScriptedCorpus(), ScriptedJudge()
    result = await trust_fc(corpus, judge)
    assert corpus.asked == [QUERY]
    assert result.query == QUERY
    assert judge.asked == [(QUESTION, RESPONSE, result.passages)]


async def test_no_passage_is_neutral_and_asks_no_judge() -> None:
    judge = ScriptedJudge(ConfigError("nobody is to be asked"))
    result = await trust_fc(ScriptedCorpus(found=[]), judge)
    assert (result.relation, result.value, result.unscored_reason) == (Relation.NEUTRAL, 0.5, None)
    assert (result.query, result.passages, result.cited, result.judged_by) == (QUERY, (), (), "")
    assert result.rationale == "The corpus was searched, and no passage was found."
    assert judge.asked == []


@pytest.mark.parametrize(
    ("error", "reason", "said"),
    [
        (ToolError("HTTP 500", tool="corpus", status=500), UnscoredReason.TOOL_FAILURE, "HTTP 500"),
        (TimeoutError("its own"), UnscoredReason.TOOL_FAILURE, "corpus: the search failed (TimeoutError)"),
        (BudgetExceeded("1 dollar"), UnscoredReason.BUDGET, "the budget is used up: 1 dollar"),
    ],
    ids=["server", "late by itself", "budget"],
)
async def test_a_failed_search_is_unscored(error: Exception, reason: UnscoredReason, said: str) -> None:
    judge = ScriptedJudge()
    result = await trust_fc(ScriptedCorpus(found=error), judge)
    assert (result.relation, result.value, result.unscored_reason) == (None, None, reason)
    assert (result.rationale, result.query, judge.asked) == (said, QUERY, [])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelOutputError("no JSON", schema="Entailment", reply="Hm."), UnscoredReason.PARSE_FAILURE),
        (ModelRefusal("no", schema="Entailment", reply="No."), UnscoredReason.REFUSAL),
        (ToolError("HTTP 500", tool="judge", status=500), UnscoredReason.TOOL_FAILURE),
    ],
    ids=["unreadable", "refusal", "server"],
)
async def test_a_failed_judgement_is_unscored_and_keeps_the_passages(
    error: FactloopError, reason: UnscoredReason
) -> None:
    result = await trust_fc(ScriptedCorpus(), ScriptedJudge(error))
    assert (result.relation, result.value, result.unscored_reason) == (None, None, reason)
    assert (result.rationale, result.query) == (str(error), QUERY)
    assert [item.id for item in result.passages] == ["p1", "p2", "p3"]


async def test_a_wrong_set_up_is_raised() -> None:
    with pytest.raises(ConfigError, match="no index"):
        await trust_fc(ScriptedCorpus(found=ConfigError("no index")), ScriptedJudge())
    with pytest.raises(ConfigError, match="no key"):
        await trust_fc(ScriptedCorpus(), ScriptedJudge(ConfigError("no key")))
