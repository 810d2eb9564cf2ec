from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from factloop import FactChecker, TrustScorer
from factloop.entrance.asks import NO_SUBJECT, NO_TEXT, NOTHING_FAITHFUL, NOTHING_TO_SCORE_BY, NOTHING_TO_SEARCH
from factloop.integrations.mcp.answers import LONGEST_PASSAGE
from factloop.integrations.mcp.server import NOT_SET_UP, build_server
from factloop.service.shapes import CheckAsk, TrustAsk
from tests.checking.simulated import simulated_checker, simulated_scorer
from tests.simulator import Faults, Simulator

ANSWER = "Ada Lovelace was born in London. Ada Lovelace was born on 10 December 1825."
DOCUMENTS = ["Ada Lovelace was born in London on 10 December 1815."]


@asynccontextmanager
async def served(checker: FactChecker, scorer: TrustScorer) -> AsyncIterator[Client]:
    async with checker, scorer, Client(build_server(checker, scorer)) as client:
        yield client


@asynccontextmanager
async def offline() -> AsyncIterator[Client]:
    async with served(FactChecker(cache=False), TrustScorer(cache=False)) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return dict(result.structured_content)


def complaint(result: CallToolResult) -> str:
    assert result.is_error
    assert result.structured_content is None
    (line,) = text_of(result).splitlines()
    return line


async def test_a_response_is_checked_against_the_documents_given() -> None:
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the protocol
        told.append(message)

    async with offline() as client:
        result = await client.call_tool(
            "check_response", {"response": ANSWER, "documents": DOCUMENTS}, progress_callback=note
        )
    answer = structured(result)
    assert [claim["verdict"] for claim in answer["claims"]] == ["supported", "not_supported"]
    of_first: dict[str, Any] = {"index": 0, "id": None, "metadata": {}}
    (passage,) = answer["claims"][0]["cited"]
    assert passage == {"source": "given_documents#1", "title": "", "passage": DOCUMENTS[0], "document": of_first}
    assert (answer["precision"], answer["counts"]["unscored"]) == (0.5, 0)
    assert text_of(result).startswith("2 claims (1 supported, 1 ")
    assert told == ["1 of 2 claims judged", "2 of 2 claims judged"]


async def test_what_has_no_claim_is_there_with_its_reason() -> None:
    code = "```sh\n" + 400 * "ls\n" + "```"
    async with offline() as client:
        result = await client.call_tool(
            "check_response", {"response": f"# Ada\n\n{DOCUMENTS[0]} Who was she?\n\n{code}", "documents": DOCUMENTS}
        )
    answer = structured(result)
    assert (len(answer["claims"]), answer["n_sentences"], answer["n_without_claim"]) == (2, 4, 3)
    assert [(one["no_claim"], one["sentence"][:20]) for one in answer["without_claim"]] == [
        ("heading", "Ada"),
        ("question", "Who was she?"),
        ("code", code[:20]),
    ]
    assert len(answer["without_claim"][2]["sentence"]) == LONGEST_PASSAGE


async def test_a_claim_is_judged_as_it_is() -> None:
    async with offline() as client:
        result = await client.call_tool("check_claim", {"claim": DOCUMENTS[0], "documents": DOCUMENTS})
    answer = structured(result)
    (claim,) = answer["claims"]
    assert (claim["claim"], claim["verdict"]) == (DOCUMENTS[0], "supported")
    assert "baseline" in answer["judged_by"]


async def test_every_answer_follows_its_schema(sim: Simulator) -> None:
    pair = sim.world.questions[0]
    calls: dict[str, dict[str, Any]] = {
        "check_response": {"response": ANSWER, "question": "Who was Ada?"},
        "check_claim": {"claim": ANSWER},
        "trust_score": {"question": pair.question, "response": pair.answer},
    }
    async with served(simulated_checker(sim), simulated_scorer(sim)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == set(calls)
        for name, arguments in calls.items():
            schema = tools[name].output_schema
            assert schema is not None
            assert tools[name].input_schema["additionalProperties"] is False
            result = await client.call_tool(name, arguments)
            jsonschema.validate(structured(result), schema)
    assert structured(result)["trust_fc_unscored"] == "no_source"  # which is no zero
    assert "TrustFC: unscored (no_source)" in text_of(result)


async def test_a_model_that_fails_leaves_claims_unscored(sim: Simulator) -> None:
    sim.set(stage_faults={"Assessment": Faults(refusal=1.0)})
    async with served(simulated_checker(sim), simulated_scorer(sim)) as client:
        response = sim.world.responses[0]
        answer = structured(await client.call_tool("check_response", {"response": response.facts[0].text}))
    assert answer["precision"] is None
    assert {claim["verdict"] for claim in answer["claims"]} == {None}
    assert {claim["unscored_reason"] for claim in answer["claims"]} == {"refusal"}


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("trust_score", {"question": "Who?", "response": "She."}, "Unknown tool"),
        ("check_claim", {"claim": ""}, "check_claim: claim: String should have at least 1 character"),
        ("check_claim", {"claim": " "}, "check_claim: claim: String should match pattern"),
        ("check_claim", {"claim": "x" * 2_001}, "at most 2000 characters"),
        ("check_response", {"response": 7}, "check_response: response: Input should be a valid string"),
        ("check_response", {"response": ANSWER, "documents": [""] * 1_001}, "at most 1000 items"),
        ("check_response", {"response": ANSWER, "documents": ["x" * 1_700_000] * 5}, "at most 8,000,000 characters"),
        ("check_claim", {"claim": "x", "documents": [{"path": "x"}]}, "documents.0.path: there is no such field"),
        ("check_claim", {"claim": "x", "limits": {"deadlines": 5}}, "limits.deadlines: there is no such field; did"),
        ("check_response", {"response": ANSWER, "mode": "guess"}, "mode: Input should be 'faithfulness' or"),
        ("check_response", {}, "check_response: response: Field required"),
        ("no_such_tool", {}, "Unknown tool"),
        ("check_claim", {"claim": "x", "asked": "Who?"}, "check_claim has no argument 'asked'; its arguments are"),
        ("check_response", {"response": ANSWER}, f"Error executing tool check_response: {NOTHING_TO_SEARCH}"),
        ("check_claim", {"claim": ANSWER, "mode": "factuality"}, NOTHING_TO_SEARCH),
        ("check_claim", {"claim": ANSWER, "mode": "faithfulness"}, NOTHING_TO_SEARCH),
    ],
)
async def test_what_cannot_be_served_is_refused_in_one_line(name: str, arguments: dict[str, Any], said: str) -> None:
    async with offline() as client:
        line = complaint(await client.call_tool(name, arguments))
    assert said in line
    assert len(line) <= 500
    assert "Traceback" not in line


async def test_names_and_limits_are_those_of_the_service() -> None:
    """What both accept has one name and one limit, but here documents may be plain strings."""
    async with served(FactChecker(cache=False), TrustScorer(cache=False, subject_model="openai:x")) as client:
        tools = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
    for name, ask in (("check_response", CheckAsk), ("trust_score", TrustAsk)):
        fields = ask.model_json_schema()["properties"]
        assert set(tools[name]) <= set(fields)
        for argument in set(tools[name]) - {"documents", "limits"}:
            assert bounds(tools[name][argument]) == bounds(fields[argument]), (name, argument)


def bounds(schema: dict[str, Any]) -> dict[str, Any]:
    shapes = [schema, *schema.get("anyOf", ())]
    kept = ("minLength", "maxLength", "pattern", "enum")
    return {name: shape[name] for shape in shapes for name in kept if name in shape}


async def test_trust_is_scored_by_documents_given(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("The sea is salt.", encoding="utf-8")
    asked = {"question": "Where was Ada Lovelace born?", "response": DOCUMENTS[0]}
    document = {"text": DOCUMENTS[0], "title": "Ada", "source": "https://example.org/ada"}
    async with served(FactChecker(cache=False), TrustScorer(cache=False, corpus=str(tmp_path))) as client:
        own = structured(await client.call_tool("trust_score", asked))
        given = structured(await client.call_tool("trust_score", {**asked, "documents": [document]}))
        wrong = complaint(await client.call_tool("trust_score", {"question": "Who?"}))
        nothing = complaint(await client.call_tool("trust_score", {**asked, "documents": [" \n"]}))
    assert (own["relation"], given["relation"]) != ("support", "neutral")
    assert given["trust_fc"] == 1
    named = {"source": document["source"], "title": "Ada"}
    of_first = {"index": 0, "id": None, "metadata": named}
    assert given["cited"] == [{**named, "passage": DOCUMENTS[0], "document": of_first}]
    assert nothing == f"Error executing tool trust_score: {NOTHING_TO_SCORE_BY}"
    assert wrong == f"Error executing tool trust_score: {NO_SUBJECT}"


async def test_callers_elsewhere_are_told_no_more_than_that_it_is_not_set_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    checker, scorer = FactChecker(search="serper", cache=False), TrustScorer(cache=False)
    async with checker, scorer, Client(build_server(checker, scorer, is_local=False)) as client:
        line = complaint(await client.call_tool("check_response", {"response": ANSWER}))
    assert line == f"Error executing tool check_response: {NOT_SET_UP}"
    assert "serper needs a key" in caplog.text
    async with served(FactChecker(search="serper", cache=False), TrustScorer(cache=False)) as client:
        line = complaint(await client.call_tool("check_response", {"response": ANSWER}))
    assert "this server is not configured correctly: serper needs a key" in line


@pytest.mark.parametrize("documents", [[], [" \n"]])
async def test_documents_without_text_are_nothing_to_be_faithful_to(tmp_path: Path, documents: list[str]) -> None:
    """Even if the server has its own sources, which the mode `factuality` searches as well."""
    (tmp_path / "own.txt").write_text(DOCUMENTS[0], encoding="utf-8")
    claim = {"claim": DOCUMENTS[0]}
    async with served(FactChecker(cache=False, docs=str(tmp_path)), TrustScorer(cache=False)) as client:
        refused = [
            complaint(await client.call_tool("check_claim", {**claim, **asked}))
            for asked in ({"documents": documents}, {"mode": "faithfulness"})
        ]
        searched = [
            structured(await client.call_tool("check_claim", {**claim, **asked}))
            for asked in ({"documents": documents, "mode": "factuality"}, {"mode": "factuality"}, {})
        ]
    assert refused == [f"Error executing tool check_claim: {said}" for said in (NO_TEXT, NOTHING_FAITHFUL)]
    assert [answer["claims"][0]["verdict"] for answer in searched] == ["supported"] * 3


async def test_a_check_takes_limits(sim: Simulator) -> None:
    sim.set(llm_latency_s=60.0)
    hasty = {"deadline_s": 0.3}
    async with served(simulated_checker(sim), simulated_scorer(sim)) as client:
        whole = await client.call_tool("check_response", {"response": ANSWER, "limits": hasty})
        one = await client.call_tool("check_claim", {"claim": ANSWER, "limits": {**hasty, "max_calls": 9}})
        wrong = await client.call_tool("check_claim", {"claim": ANSWER, "limits": {"deadline_s": 0}})
    assert "unscored: no answer in time" in text_of(whole)
    assert "the check reached its deadline of 0.3 s" in text_of(one)
    assert "greater than 0" in complaint(wrong)
