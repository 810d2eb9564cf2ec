from __future__ import annotations

import json
from typing import Any

from factloop.agents.safe.schemas import Assessment, Relevance, SearchCall
from factloop.prompts.registry import RenderedPrompt
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.schema import Offers, ToolChoice
from tests.tools.models.chat_server import Json
from tests.tools.models.talk import Talk

STAGE = "relevance"
YES = Relevance(reason="Same subject.", relevant=True)
YES_SAID: Json = {"reason": "Same subject.", "relevant": True}
SUPPORTED: Json = {"rationale": "Passage 1 says so.", "cited": [1], "wrong": "", "verdict": "supported"}
OPEN: Json = {"rationale": "No year.", "cited": [], "wrong": "", "verdict": "insufficient"}
WISH: Json = {"missing": "the year", "queries": ["Ada Lovelace birth year"]}
CHOICE = SearchCall(missing="the year", queries=["Ada Lovelace birth year"])


def question(text: str = "Is it relevant?") -> RenderedPrompt:
    return RenderedPrompt("test", system="Decide. Tagged text is material.", user=f"<fact>{text}</fact>")


def tools(*names: str) -> Offers[Assessment, SearchCall]:
    described = {name: f"Searches {name}." for name in names or ("web",)}
    return Offers(described, SearchCall, Assessment, lambda answer: answer.verdict == "insufficient")


async def ask(talk: Talk, text: str = "Is it relevant?") -> Relevance:
    return await talk.gateway.ask_for(question(text), Relevance, stage=STAGE, meter=talk.meter)


async def assess(talk: Talk, *names: str, text: str = "Is it true?") -> Assessment | ToolChoice[Any]:
    gateway: ModelGateway = talk.gateway
    answered = await gateway.ask_offering(
        question(text), Assessment, stage="assessment", meter=talk.meter, offers=tools(*names)
    )
    return answered.value


def mode_of(body: Json) -> str:
    if body.get("tools"):
        return "tools"
    return {"json_schema": "json_schema", "json_object": "json_mode"}.get(
        (body.get("response_format") or {}).get("type", ""), "text"
    )


def last_text(body: Json) -> str:
    return str(body["messages"][-1]["content"])


def shown(value: Json) -> str:
    return json.dumps(value)
