from __future__ import annotations

from typing import Any, Literal

import pytest
from langgraph.graph import END, START, StateGraph

from factloop.agents.nodes import Update
from factloop.agents.trustscore.graph import (
    FACTUAL_VALUE,
    NO_CORPUS,
    NO_SUBJECT,
    build_factual_graph,
    build_trust_graph,
    overall,
)
from factloop.agents.trustscore.records import Relation, TrustBC, TrustFC, TrustOV
from factloop.agents.trustscore.stages import PassageJudgement
from factloop.agents.trustscore.state import FactualInput, FactualOutput, FactualState, Graph, TrustContext
from factloop.core.errors import BudgetExceeded, ConfigError, FactloopError, ModelOutputError, ModelRefusal, ToolError
from factloop.core.records import UnscoredReason
from factloop.tools.search.base import SearchHit
from tests.agents.safe.scripted import ScriptedSearch
from tests.agents.trustscore.scripted import (
    OTHER,
    QUESTION,
    RESPONSE,
    RIGHT,
    ScriptedJudge,
    ScriptedSubject,
    run,
    searching_over,
)
from tests.agents.trustscore.scripted import consistency_of as consistency

GIVEN = {"question": QUESTION, "response": RESPONSE}


def related(relation: Relation | None) -> Graph:
    """TrustFC without search or judge; for None, the real graph with nothing to search."""
    if relation is None:
        return build_factual_graph(searching_over(), ScriptedJudge())

    async def entail(state: FactualState) -> Update:
        found = TrustFC(relation=relation, value=FACTUAL_VALUE[relation], rationale=f"On {state['response']}")
        return {"trust_fc": found}

    graph = StateGraph(
        FactualState, context_schema=TrustContext, input_schema=FactualInput, output_schema=FactualOutput
    )
    graph.add_node("entail", entail)
    graph.add_edge(START, "entail")
    graph.add_edge("entail", END)
    return graph.compile()


def whole(subject: ScriptedSubject | None, *, relation: Relation | None = None) -> Graph:
    return build_trust_graph(
        subject=subject,
        consistency=consistency(subject) if subject is not None else None,
        factual=related(relation),
        max_checks=10,
    )


def parts(final: dict[str, Any]) -> tuple[TrustBC, TrustFC, TrustOV]:
    return final["trust_bc"], final["trust_fc"], final["trust_ov"]


async def test_without_a_corpus_there_is_one_part() -> None:
    consistent, factual, overall = parts(await run(whole(ScriptedSubject([RIGHT] * 10)), GIVEN))
    assert consistent.value == 1
    assert (factual.unscored_reason, factual.rationale) == (UnscoredReason.NO_SOURCE, NO_CORPUS)
    assert (overall.value, overall.missing) == (None, f"TrustFC ({NO_CORPUS})")


async def test_without_a_subject_there_is_the_other() -> None:
    consistent, factual, overall = parts(await run(whole(None, relation=Relation.SUPPORT), GIVEN))
    assert (consistent.unscored_reason, consistent.rationale) == (UnscoredReason.NO_SOURCE, NO_SUBJECT)
    assert consistent.max_checks == 10
    assert factual.relation is Relation.SUPPORT
    assert (overall.value, overall.missing) == (None, f"TrustBC ({NO_SUBJECT})")


@pytest.mark.parametrize("given", [{"question": QUESTION}, {"question": QUESTION, "response": None}])
async def test_a_missing_response_is_asked_for(given: dict[str, Any]) -> None:
    subject = ScriptedSubject([RIGHT] * 10, answers=["A mason built it."])
    final = await run(whole(subject, relation=Relation.SUPPORT), given)
    consistent, factual, overall = parts(final)
    assert (final["response"], final["answered_by"]) == ("A mason built it.", "script")
    assert {check.options["ABCD".index(check.response_letter)].text for check in consistent.checks} == {
        "A mason built it."
    }
    assert factual.rationale == "On A mason built it."
    assert overall.value == 1.0


async def test_a_subject_without_an_answer_has_nothing_to_score() -> None:
    error, reason = ModelRefusal("I would rather not", schema="ClosedBookAnswer", reply=""), UnscoredReason.REFUSAL
    subject = ScriptedSubject(answers=[error])
    final = await run(whole(subject, relation=Relation.SUPPORT), {"question": QUESTION})
    consistent, factual, overall = parts(final)
    said = f"The subject gave no answer: {error}"
    assert (consistent.value, consistent.unscored_reason, consistent.rationale) == (None, reason, said)
    assert (factual.relation, factual.unscored_reason, factual.rationale) == (None, reason, said)
    assert overall.missing == f"TrustBC and TrustFC ({said})"
    assert (final["response"], final["answered_by"], len(subject.asked)) == ("", "script", 1)


async def test_a_response_cannot_be_asked_of_nobody() -> None:
    with pytest.raises(ConfigError, match="--subject-model"):
        await run(whole(None, relation=Relation.SUPPORT), {"question": QUESTION})


async def test_a_wrong_set_up_is_raised() -> None:
    with pytest.raises(ConfigError, match="no key"):
        await run(whole(ScriptedSubject(answers=[ConfigError("no key")])), {"question": QUESTION})
    with pytest.raises(ConfigError, match="no key"):
        await run(whole(ScriptedSubject([ConfigError("no key")])), GIVEN)


async def test_the_graph_runs_without_an_account() -> None:
    final = await whole(ScriptedSubject([OTHER]), relation=Relation.NEUTRAL).ainvoke(GIVEN)
    assert final["trust_ov"].value == 0.4


@pytest.mark.parametrize(
    ("value", "relation", "expected"),
    [(1, "support", 1.0), (0, "support", 0.8), (1, "neutral", 0.6), (0, "neutral", 0.4), (1, "contradict", 0.2),
     (0, "contradict", 0.0)],
)  # fmt: skip
def test_the_table_of_the_paper(value: Literal[0, 1], relation: str, expected: float) -> None:
    consistent = TrustBC(value=value, max_checks=10, n_planned=10)
    factual = TrustFC(relation=Relation(relation), value=FACTUAL_VALUE[Relation(relation)])
    assert overall(consistent, factual) == TrustOV(value=expected)
    late, spent = TrustFC(unscored_reason=UnscoredReason.TIMEOUT), UnscoredReason.BUDGET
    unscored = TrustBC(unscored_reason=spent, rationale="100 calls were made", max_checks=10, n_planned=10)
    assert overall(unscored, factual).missing == "TrustBC (100 calls were made)"
    assert overall(consistent, late).missing == "TrustFC (timeout)"
    assert overall(unscored, late).missing == "TrustBC (100 calls were made) and TrustFC (timeout)"


QUERY = '"King Solomon built it." correctly answers the question of "Who built the first temple?"'
HITS = [SearchHit(source=f"corpus#{number}", title="Temple", passage=f"Passage {number}.") for number in range(1, 4)]


def corpus(found: Any = HITS) -> ScriptedSearch:
    return ScriptedSearch(name="corpus", rest=found)


async def trust_fc(search: ScriptedSearch, judge: ScriptedJudge) -> TrustFC:
    final = await run(build_factual_graph(searching_over(search), judge), GIVEN)
    found: TrustFC = final["trust_fc"]
    return found


@pytest.mark.parametrize(
    ("relation", "value"), [(Relation.SUPPORT, 1.0), (Relation.NEUTRAL, 0.5), (Relation.CONTRADICT, 0.0)]
)
async def test_a_relation_and_its_value(relation: Relation, value: float) -> None:
    search, judge = corpus(), ScriptedJudge(PassageJudgement(relation, "By what it says.", (2, 0)))
    result = await trust_fc(search, judge)
    assert (search.asked, result.query) == ([QUERY], QUERY)
    assert judge.asked == [(QUESTION, RESPONSE, result.passages)]
    assert (result.relation, result.value, result.unscored_reason) == (relation, value, None)
    assert (result.rationale, result.judged_by) == ("By what it says.", "judge")
    assert result.cited == ("p3", "p1")
    assert [(item.id, item.rank, item.passage) for item in result.passages] == [
        ("p1", 1, "Passage 1."),
        ("p2", 2, "Passage 2."),
        ("p3", 3, "Passage 3."),
    ]
    assert {item.query for item in result.passages} == {result.query}


async def test_no_passage_is_neutral_and_asks_no_judge() -> None:
    judge = ScriptedJudge(ConfigError("nobody is to be asked"))
    result = await trust_fc(corpus([]), judge)
    assert (result.relation, result.value, result.unscored_reason) == (Relation.NEUTRAL, 0.5, None)
    assert (result.query, result.passages, result.cited, result.judged_by) == (QUERY, (), (), "")
    assert result.rationale == "The corpus search found no passages."
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
    result = await trust_fc(corpus(error), judge)
    assert (result.relation, result.value, result.unscored_reason) == (None, None, reason)
    assert (result.rationale, result.query, judge.asked) == (said, QUERY, [])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelOutputError("no JSON", schema="Entailment", reply="Hm."), UnscoredReason.PARSE_FAILURE),
        (ToolError("HTTP 500", tool="judge", status=500), UnscoredReason.TOOL_FAILURE),
    ],
    ids=["unreadable", "server"],
)
async def test_a_failed_judgement_is_unscored_and_keeps_passages(error: FactloopError, reason: UnscoredReason) -> None:
    result = await trust_fc(corpus(), ScriptedJudge(error))
    assert (result.relation, result.value, result.unscored_reason) == (None, None, reason)
    assert (result.rationale, result.query) == (str(error), QUERY)
    assert [item.id for item in result.passages] == ["p1", "p2", "p3"]


async def test_a_wrong_search_or_judge_is_raised() -> None:
    with pytest.raises(ConfigError, match="no index"):
        await trust_fc(corpus(ConfigError("no index")), ScriptedJudge())
    with pytest.raises(ConfigError, match="no key"):
        await trust_fc(corpus(), ScriptedJudge(ConfigError("no key")))
