"""The openai SDK alone: an answer streams to the terminal, each sentence once it is checked.

    MODEL=gpt-4o-mini python examples/openai/ask.py "When was Smeaton's Tower lit?"

DOCS names another folder of documents: the model is shown all of them here, where you would show what you retrieve.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from openai import OpenAI

from factloop import FactChecker
from factloop.guarding import GuardedSentence, StreamGuard

MODEL = os.environ.get("MODEL", "gpt-4o-mini")
DOCS = Path(os.environ.get("DOCS", Path(__file__).parents[1] / "lighthouse" / "sources"))


def written(question: str) -> Iterator[str]:
    """The model's answer, in pieces."""
    documents = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.iterdir()))
    stream = OpenAI().chat.completions.create(
        model=MODEL,
        messages=[
            {"role": "system", "content": f"Answer from these documents.\n\n{documents}"},
            {"role": "user", "content": question},
        ],
        stream=True,
    )
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.choices[0].delta.content


def main(question: str) -> None:
    guard = StreamGuard(FactChecker(f"openai:{MODEL}", docs=DOCS), "annotate")
    for event in guard.events(written(question), question):
        if isinstance(event, GuardedSentence):
            print(event.released, end="", flush=True)  # noqa: T201 - this is what the example shows
        else:  # the last event
            counts = event.report.counts
            print(f"\n({counts.supported} of {counts.scored} claims supported, {counts.unscored} unscored)")  # noqa: T201


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
