from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from factloop.agents.safe import schemas
from factloop.agents.safe.schemas import (
    Assessment,
    GroundedFact,
    GroundedFacts,
    Relevance,
    SearchCall,
    SearchQuery,
    SentenceFacts,
    WindowFacts,
)
from factloop.core.errors import ModelOutputError, ToolError
from factloop.tools.models.parsing import LONGEST_REPLY, parse_reply
from factloop.tools.models.schema import Offers, StructuredOutput, ToolChoice, strict_schema
from tests.tools.models.chat_server import ChatServer, Json, Reply, called, failure, said
from tests.tools.models.questions import (
    CHOICE,
    OPEN,
    SUPPORTED,
    WISH,
    YES,
    YES_SAID,
    ask,
    assess,
    last_text,
    mode_of,
    tools,
)
from tests.tools.models.talk import Connect
from tests.work import LINEAR, growth

TITLES = (
    "AtomicFacts", "SelfContainedFact", "Relevance", "SearchQuery", "Rating", "WindowFacts", "SentenceFacts",
    "Assessment", "Assessments", "SearchCall", "GroundedFacts", "GroundedClaims", "GivenClaims",
)  # fmt: skip
"""Part of the public contract: other programs recognise requests by them."""
SAID_BEFORE = {"Relevance": "reason", "Rating": "reasoning", "Assessment": "rationale"}
"""A model writes the fields in their order, so that reasons come before verdicts."""


def objects(node: Any) -> list[dict[str, Any]]:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    below = [found for one in inner for found in objects(one)]
    return [node, *below] if isinstance(node, dict) and node.get("type") == "object" else below


@pytest.mark.parametrize("title", TITLES)
def test_outputs_are_in_the_strict_dialect_in_the_order_of_thought(title: str) -> None:
    output: type[BaseModel] = getattr(schemas, title)
    schema = strict_schema(output)
    assert issubclass(output, StructuredOutput)
    assert (schema["title"], list(schema["properties"])) == (title, list(output.model_fields))
    assert schema["properties"].get(SAID_BEFORE.get(title)) == ({"type": "string"} if title in SAID_BEFORE else None)
    assert SAID_BEFORE.get(title) in (None, next(iter(schema["properties"])))
    for one in objects(schema):
        assert (one["required"], one["additionalProperties"]) == (list(one["properties"]), False)
        for node in (one, *one["properties"].values()):
            assert not {"$ref", "$defs", "description", "default"} & node.keys()


def test_definitions_are_inlined_and_nothing_is_said_twice() -> None:
    text, numbers = {"type": "string"}, {"type": "array", "items": {"type": "integer"}}
    fact = {
        "sentence": {"type": "integer"},
        "fact": text,
        "status": {"type": "string", "enum": ["check", "irrelevant", "ambiguous"]},
        "query": text,
    }
    closed = {"type": "object", "properties": fact, "required": list(fact), "additionalProperties": False}
    assert strict_schema(WindowFacts) == {
        "title": "WindowFacts",
        "type": "object",
        "properties": {"facts": {"type": "array", "items": closed}, "without_fact": numbers},
        "required": ["facts", "without_fact"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(("named", "expected"), [("documents", "documents"), ("nothing", "web"), ("", "web")])
def test_of_two_tools_the_named_one_is_chosen_else_the_first(named: str, expected: str) -> None:
    both: Offers[Assessment, SearchCall] = tools("web", "documents")
    said = both.answer_or_choice.model_validate({**OPEN, "queries": ["q"], "tool": named})
    assert both.choice_in(said) == ToolChoice(expected, SearchCall(queries=["q"]))


async def test_many_first_requests_agree_on_the_mode(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: said(SUPPORTED) if mode_of(body) == "text" else failure(400, "not supported"))
    talk = await connect()
    await asyncio.gather(*(assess(talk, text=str(number)) for number in range(10)))
    sent = len(server.bodies)
    await assess(talk, text="later")
    assert len(server.bodies) == sent + 1


@pytest.mark.parametrize("odd", [said("cut", finish="length"), called(("nonsense", {}))])
async def test_a_reply_that_may_be_in_its_form_is_asked_for_in_the_same_mode_again(
    server: ChatServer, connect: Connect, odd: Reply
) -> None:
    server.will(odd, called(("web", WISH)))
    assert await assess(await connect()) == ToolChoice("web", CHOICE)
    assert [mode_of(body) for body in server.bodies] == ["tools", "tools"]


def refusing(
    is_refused: Callable[[Json], bool], *, status: int = 400, param: str | None = None
) -> Callable[[Json], Reply]:
    """A server that rejects some requests with an uninformative message."""
    return lambda body: failure(status, "extra_forbidden", param=param) if is_refused(body) else said(YES_SAID)


@pytest.mark.parametrize(
    ("is_refused", "sent"),
    [
        (lambda body: "temperature" in body, {"max_completion_tokens"}),
        (lambda body: "max_completion_tokens" in body, {"temperature", "max_tokens"}),
        (lambda body: {"max_completion_tokens", "max_tokens"} & body.keys(), {"temperature"}),
        (lambda body: body["messages"][0]["role"] == "system", {"temperature", "max_completion_tokens"}),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
async def test_what_a_server_refuses_without_saying_so_is_done_without(
    server: ChatServer, connect: Connect, is_refused: Callable[[Json], bool], sent: set[str], status: int
) -> None:
    server.follow(refusing(is_refused, status=status))
    talk = await connect()
    assert await ask(talk, "one") == YES
    n_sent = len(server.bodies)
    assert await ask(talk, "two") == YES
    last = server.bodies[-1]
    assert len(server.bodies) == n_sent + 1
    assert last.keys() & {"temperature", "max_completion_tokens", "max_tokens"} == sent
    assert mode_of(last) == "json_schema"
    assert "".join(message["content"] for message in last["messages"]).count("two") == 1


@pytest.mark.parametrize("param", ["temperature", "max_completion_tokens"])
async def test_a_setting_that_is_named_is_conceded_at_once(server: ChatServer, connect: Connect, param: str) -> None:
    server.follow(refusing(lambda body: param in body, param=param))
    talk = await connect()
    assert [await ask(talk, text) for text in ("one", "two")] == [YES, YES]
    assert [(param in body, mode_of(body)) for body in server.bodies] == [(n == 0, "json_schema") for n in range(3)]


async def test_a_server_that_has_answered_is_conceded_nothing(server: ChatServer, connect: Connect) -> None:
    server.follow(lambda body: said(YES_SAID) if ">short<" in last_text(body) else failure(400, "too long"))
    talk = await connect()
    await ask(talk, "short")
    with pytest.raises(ToolError, match="too long"):
        await ask(talk, "long")
    assert len(server.bodies) == 4  # in each mode once


RELEVANT = '{"reason": "Same subject.", "relevant": true}'
OTHER = '{"reason": "Same subject.", "relevant": false}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the reply is empty"),
        ("<think>I do not know.</think>", "the reply is empty"),
        ("I cannot say.", "not a single JSON object"),
        ("{}", "reason: Field required; relevant: Field required"),
        ('{"reason": "x"}', "relevant: Field required"),
        ('{"reason_": "x", "relevant": true}', "reason: Field required"),
        ('{"reason": "x", "relevant": "true"}', "relevant: Input should be a valid boolean"),
        ('{"reason": "x", "relevant": 1}', "relevant: Input should be a valid boolean"),
        ('{"reason": null, "relevant": true}', "reason: Input should be a valid string"),
        (f"[{RELEVANT}]", "reply: "),
        ('"yes"', "reply: "),
        ("null", "reply: "),
        (f"First {RELEVANT}, or rather {OTHER}", "several different objects"),
        (RELEVANT[:-1], "not valid JSON"),
        ('{"reason": "cut in the mid', "not valid JSON"),
        (f'{{"result": {RELEVANT}, "more": ', "not valid JSON"),
        (f'{{"result": {RELEVANT}}}', "reason: Field required"),
        ('{"reason": "x", "relevant": NaN}', "relevant: "),
        ("{'reason': 'x', 'relevant': tr", "not a single JSON object"),
        ('{"reason": "x", "relevant": false, "relevant": true}', "a field occurs twice"),
        (f'So: {RELEVANT} {{"relevant": ', "not valid JSON"),
    ],
)
def test_replies_that_cannot(text: str, said: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        parse_reply(text, Relevance)
    assert said in str(caught.value)
    assert str(caught.value).startswith("Relevance: ")
    assert caught.value.schema == "Relevance"


FACT = {"sentence": 1, "fact": "It is white.", "verdict": "supported", "passages": [1]}
FACTS = json.dumps({"facts": [FACT], "without_fact": [], "off_topic": []})


@pytest.mark.parametrize(
    "text",
    [
        FACTS[:-1] + ",}",
        FACTS[:-1] + " // done\n}",
        FACTS.replace('"', "'"),
        FACTS.replace("supported", "SUPPORTED"),
        FACTS.replace('"sentence": 1', '"sentence": "1"').replace("[1]", '["[1]"]'),
        FACTS.replace("[1]", "1"),
        FACTS.replace('"off_topic": []', '"off_topic": null'),
        json.dumps({**json.loads(FACTS), "facts": json.dumps([FACT])}),
        json.dumps(FACTS),
        json.dumps({"GroundedFacts": json.loads(FACTS)}),
        f'<tool_call>\n{{"name": "GroundedFacts", "arguments": {FACTS}}}\n</tool_call>',
        "\ufeff" + FACTS,
        FACTS[:-1] + ', "confidence": NaN}',
        FACTS.replace("white", "white\\u0000"),
    ],
)
def test_faults_that_can_mean_one_thing_alone_are_read(text: str) -> None:
    assert parse_reply(text, GroundedFacts).facts == [GroundedFact.model_validate(FACT)]


def test_half_a_character_becomes_a_question_mark() -> None:
    assert parse_reply('{"query": "tower \\ud83d"}', SearchQuery).query == "tower ?"


def test_a_list_is_read_where_the_answer_is_nothing_but_a_list() -> None:
    fact = {"fact": "It is white.", "status": "check", "query": "q"}
    assert parse_reply(json.dumps([fact]), SentenceFacts).facts[0].fact == "It is white."


@pytest.mark.parametrize("verdict", ["true", "SUPPORT", "mostly supported", ""])
def test_no_verdict_is_guessed(verdict: str) -> None:
    with pytest.raises(ModelOutputError, match="verdict"):
        parse_reply(FACTS.replace("supported", verdict), GroundedFacts)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000, "{}" * 100_000, '{"' * 100_000, '{"a":' * 100_000, "[" * 100_000,
        '{"reason": ' + "[" * 100_000, "{" + " " * 900_000, ("{" + " " * 9_000) * 100, "```json\n" * 100_000,
        "</think>" * 100_000, "\n" * 900_000 + "{", '{"reason": "' + "\\" * 900_000, "a" * (LONGEST_REPLY + 1),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_hostile_replies_are_refused(text: str) -> None:
    """Quadratic work would exceed the test's time limit."""

    def parse(n_characters: int) -> None:
        with pytest.raises(ModelOutputError):
            parse_reply(text[:n_characters], Relevance)

    parse(len(text))
    assert growth(parse, 2_000) < LINEAR


@pytest.mark.parametrize("depth", [*range(100, 1_000, 45), 5_000])
def test_deep_nesting_is_refused_at_every_depth(depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        nested = opening * depth + "1" + closing * depth
        with pytest.raises(ModelOutputError):
            parse_reply(f'{{"query": {nested}}}', SearchQuery)


def test_a_million_characters_on_one_line_are_read() -> None:
    long = "x" * 900_000
    assert parse_reply(f"Well, {json.dumps({'query': long})} it is.", SearchQuery).query == long
