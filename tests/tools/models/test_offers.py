from __future__ import annotations

from factloop.agents.safe.schemas import Assessment, SearchCall
from factloop.tools.models.offers import Offers, ToolChoice
from factloop.tools.models.schema import strict_schema, tool_parameters

DECIDED = {"rationale": "r", "cited": [], "wrong": "", "verdict": "supported"}
OPEN = {"rationale": "r", "cited": [], "wrong": "", "verdict": "insufficient"}


def offers(*names: str) -> Offers[Assessment, SearchCall]:
    described = {name: f"Searches {name}." for name in names}
    return Offers(described, SearchCall, Assessment, lambda answer: answer.verdict == "insufficient")


def choice(given: Offers[Assessment, SearchCall], **fields: object) -> ToolChoice[SearchCall] | None:
    return given.choice_in(given.answer_or_choice.model_validate(fields))


def test_tools_are_described_as_openai_does() -> None:
    (tool,) = offers("web").as_openai
    assert tool["type"] == "function"
    assert tool["function"]["name"] == "web"
    assert tool["function"]["description"] == "Searches web."
    assert tool["function"]["parameters"] == tool_parameters(SearchCall)
    assert "strict" not in tool["function"]  # that dialect would have every argument given


def test_the_merged_answer_keeps_its_title_and_gains_the_arguments() -> None:
    one, two = offers("web"), offers("web", "documents")
    assert list(strict_schema(one.answer_or_choice)["properties"]) == [
        "rationale", "cited", "wrong", "verdict", "missing", "queries",
    ]  # fmt: skip
    assert strict_schema(one.answer_or_choice)["title"] == "Assessment"
    assert list(strict_schema(two.answer_or_choice)["properties"])[-1] == "tool"


def test_a_choice_is_read_beside_an_open_answer() -> None:
    wish: dict[str, object] = {"missing": "the year", "queries": ["Ada year", "Ada birth"]}
    for given in (wish, {"missing": "the year"}, {"queries": ["Ada year"]}):
        assert choice(offers("web"), **OPEN, **given) == ToolChoice("web", SearchCall.model_validate(given))


def test_a_decided_answer_chooses_nothing() -> None:
    assert choice(offers("web"), **DECIDED, missing="x", queries=["y"]) is None


def test_an_open_answer_without_arguments_chooses_nothing() -> None:
    assert choice(offers("web"), **OPEN) is None
    assert choice(offers("web"), **OPEN, missing=" ", queries=[""]) is None


def test_of_two_tools_the_named_one_is_chosen_else_the_first() -> None:
    both = offers("web", "documents")
    for named, expected in (("documents", "documents"), ("nothing", "web"), ("", "web")):
        chosen = choice(both, **OPEN, queries=["q"], tool=named)
        assert chosen is not None
        assert chosen.name == expected
