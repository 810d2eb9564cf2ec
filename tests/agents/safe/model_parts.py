from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from factloop.agents.safe.stages import Case
from factloop.agents.safe.state import SentenceTask
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry
from factloop.tools.models.gateway import ModelGateway
from tests.agents.safe.scripted import ScriptedSearch, context_of
from tests.tools.models.scripted_chat import ScriptedChat, saying

Fields = Mapping[str, Any]
Parts = tuple[ModelGateway, PromptRegistry]
_PROMPTS = PromptRegistry.load()


def parts(*replies: Fields) -> tuple[ScriptedChat, Parts]:
    chat, talk = saying(*(json.dumps(reply) for reply in replies))
    return chat, (talk.gateway, _PROMPTS)


def asked_of(chat: ScriptedChat) -> list[str]:
    return [str(messages[-1].text) for messages in chat.asked]


def evidence(number: int, **fields: Any) -> Evidence:
    return Evidence.model_validate(
        {
            "id": f"e{number}",
            "source": "s",
            "passage": f"Passage {number}.",
            "query": "q",
            "rank": number,
            "retrieved_at": datetime(2024, 1, 1, tzinfo=UTC),
            **fields,
        }
    )


TASK = SentenceTask("She was born in London.", 0, 23)
CONTEXT = context_of(ScriptedSearch(), prompt="Who was Ada Lovelace?", response=TASK.sentence)


def case(*items: Evidence, left: int = 3) -> Case:
    return Case("Ada Lovelace was born in London.", TASK, ("q",), items, left)


def assessment(verdict: str, cited: list[int], **more: Any) -> Fields:
    wish = {"missing": "", "queries": []}
    return {"rationale": "Because.", "cited": cited, "wrong": "", "verdict": verdict, **wish, **more}


def rating(word: str, cited: list[int], wrong: str = "") -> Fields:
    return {"reasoning": "Because.", "cited": cited, "wrong": wrong, "rating": word}
