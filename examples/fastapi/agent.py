"""An agent behind FastAPI that streams its answer to the browser, each sentence once it is checked.

    pip install fastapi uvicorn
    MODEL=openai:gpt-4o-mini uvicorn --app-dir examples/fastapi agent:app       # then open http://127.0.0.1:8000

`look_up` is a stand-in for your retriever. DOCS names another folder of documents.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse
from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessageChunk, HumanMessage

from factloop import FactChecker
from factloop.guarding import StreamGuard

MODEL = os.environ.get("MODEL", "openai:gpt-4o-mini")
DOCS = Path(os.environ.get("DOCS", Path(__file__).parents[1] / "lighthouse" / "sources"))

PAGE = """<!doctype html><meta charset="utf-8"><title>Ask</title>
<form><input name="question" size="60" autofocus> <button>Ask</button></form>
<p id="answer" style="white-space: pre-wrap">
<script>
const answer = document.getElementById("answer"), form = document.querySelector("form")
form.onsubmit = async (event) => {
  event.preventDefault()
  answer.textContent = ""
  const response = await fetch("/answer?" + new URLSearchParams(new FormData(form)))
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let step; !(step = await reader.read()).done; ) answer.textContent += step.value
}
</script>"""


def look_up(topic: str) -> str:  # noqa: ARG001 - yours: retriever.invoke(topic)
    """What the documents say on a topic."""
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.iterdir()))


agent = create_agent(init_chat_model(MODEL), tools=[look_up], system_prompt="Answer from what look_up brings.")
guard = StreamGuard(FactChecker(MODEL, docs=DOCS), "annotate")
app = FastAPI()


async def written(question: str) -> AsyncIterator[AIMessageChunk]:
    async for message, _ in agent.astream({"messages": [HumanMessage(question)]}, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):  # and not what the tool brought
            yield message


@app.get("/")
async def page() -> HTMLResponse:
    return HTMLResponse(PAGE)


@app.get("/answer")
async def answer(question: str) -> StreamingResponse:
    return StreamingResponse(guard.aguard(written(question), question), media_type="text/plain; charset=utf-8")
