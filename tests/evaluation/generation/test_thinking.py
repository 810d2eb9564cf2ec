from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from factloop.core.records import UnscoredReason
from factloop.evaluation.datasets.longfact import AnyPrompt
from factloop.evaluation.generation.records import ResponsesReport
from factloop.evaluation.generation.response_file import read_responses
from factloop.evaluation.generation.responses import astream_responses
from factloop.evaluation.generation.settings import ResponseSettings
from factloop.evaluation.running.run import summary_of


async def generate(out: Path, said: AIMessage) -> ResponsesReport:
    model = GenericFakeChatModel(messages=iter([said]))
    asked = [AnyPrompt(id="p", topic="t", prompt="Who?")]
    return await summary_of(astream_responses(asked, ResponseSettings(), out, data="one", system="fake", model=model))


@pytest.mark.parametrize(
    ("said", "response", "why"),
    [
        (AIMessage("<think>Who indeed?</think>\n\nNobody. "), "Nobody.", ""),
        (AIMessage("Who indeed?</think>Nobody."), "Nobody.", ""),
        (AIMessage("I cannot say."), "I cannot say.", ""),
        (AIMessage("<think>Who", response_metadata={"finish_reason": "length"}), "", "cut off at the token limit"),
        (AIMessage("<think>Who?</think> "), "", "contains only thinking"),
        (AIMessage("\n"), "", "the reply is empty"),
    ],
)
async def test_the_response_begins_after_it(tmp_path: Path, said: AIMessage, response: str, why: str) -> None:
    report = await generate(tmp_path / "out.jsonl", said)
    assert [row.response for row in read_responses(tmp_path / "out.jsonl").values()] == ([response] if response else [])
    for one in report.unanswered:
        assert (one.prompt_id, one.reason) == ("p", UnscoredReason.PARSE_FAILURE)
        assert why in one.said
    assert len(report.unanswered) == (not response)
