"""The bot behind FastAPI. `/streamed` leaves out what could not be confirmed; `/corrected` corrects it.

    pip install fastapi uvicorn
    uvicorn --app-dir examples/support app:app       # then open http://127.0.0.1:8000

Without MODEL, the bot's own answers are judged by the baseline. With MODEL=openai:gpt-4o-mini, an agent answers in its
place, and the same model judges. DOCS names another folder of documents.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

from bot import answer
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessageChunk, HumanMessage

from factloop import Corrector, FactChecker
from factloop.guarding import StreamGuard

MODEL = os.environ.get("MODEL")
DOCS = Path(os.environ.get("DOCS", Path(__file__).parent / "sources"))

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Larder support</title>
<style>body { font: 18px/1.5 sans-serif; max-width: 46rem; margin: 2rem auto } input { font: inherit; width: 24rem }
button { font: inherit } dt { color: #555; margin-top: 1rem } dd { margin: 0; white-space: pre-wrap }</style>
<h1>Larder support</h1>
<form><input name="question" aria-label="Question" autofocus> <button>Ask</button></form>
<dl><dt>Streamed, each sentence once it is checked<dd id="streamed"><dt>Corrected<dd id="corrected"></dl>
<script>
const form = document.querySelector("form")
form.onsubmit = async (event) => {
  event.preventDefault()
  const asked = new URLSearchParams(new FormData(form))
  for (const name of ["streamed", "corrected"]) {
    const place = document.getElementById(name)
    place.textContent = ""
    const reader = (await fetch(name + "?" + asked)).body.pipeThrough(new TextDecoderStream()).getReader()
    for (let step; !(step = await reader.read()).done; ) place.textContent += step.value
  }
}
</script>"""


def look_up(topic: str) -> str:  # noqa: ARG001 - yours: retriever.invoke(topic)
    """What the documents say on a topic."""
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.iterdir()))


checker = FactChecker(MODEL, docs=DOCS)
guard, corrector = StreamGuard(checker, "replace"), Corrector(checker)
app = FastAPI()


async def written(question: str) -> AsyncIterator[AIMessageChunk | str]:
    if MODEL is None:
        yield answer(question)
        return
    agent = create_agent(init_chat_model(MODEL), tools=[look_up], system_prompt="Answer from what look_up brings.")
    async for message, _ in agent.astream({"messages": [HumanMessage(question)]}, stream_mode="messages"):
        if isinstance(message, AIMessageChunk):  # and not what the tool brought
            yield message


@app.get("/")
async def page() -> HTMLResponse:
    return HTMLResponse(PAGE)


@app.get("/streamed")
async def streamed(question: str) -> StreamingResponse:
    return StreamingResponse(guard.aguard(written(question), question), media_type="text/plain; charset=utf-8")


@app.get("/corrected")
async def corrected(question: str) -> PlainTextResponse:
    whole = "".join([piece if isinstance(piece, str) else piece.text async for piece in written(question)])
    return PlainTextResponse((await corrector.acorrect(whole, question)).text)
