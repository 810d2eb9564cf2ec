from __future__ import annotations

from factloop.agents.safe.schemas import Assessment, SearchCall
from factloop.tools.models.schema import Offers, ToolChoice

OPEN = {"rationale": "r", "cited": [], "wrong": "", "verdict": "insufficient"}


def offers(*names: str) -> Offers[Assessment, SearchCall]:
    described = {name: f"Searches {name}." for name in names}
    return Offers(described, SearchCall, Assessment, lambda answer: answer.verdict == "insufficient")


def choice(given: Offers[Assessment, SearchCall], **fields: object) -> ToolChoice[SearchCall] | None:
    return given.choice_in(given.answer_or_choice.model_validate(fields))


def test_of_two_tools_the_named_one_is_chosen_else_the_first() -> None:
    both = offers("web", "documents")
    for named, expected in (("documents", "documents"), ("nothing", "web"), ("", "web")):
        chosen = choice(both, **OPEN, queries=["q"], tool=named)
        assert chosen is not None
        assert chosen.name == expected
