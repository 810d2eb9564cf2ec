"""The windows of hand-labelled answers, as the grounded plan shows them to a model with the passages found for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.offline_texts import SETS, Fact, HandText, read_texts
from factloop import FactChecker
from factloop.agents.safe.schemas import GroundedFacts
from factloop.prompts.registry import RenderedPrompt
from tests.simulator import MODEL, Simulator
from tests.simulator.blocks import Blocks

PROMPT = "safe/grounded_facts"


@dataclass(frozen=True)
class Window:
    """A prompt of the plan, and the facts by hand of the sentences that it shows, by their ids."""

    prompt: RenderedPrompt
    facts: dict[str, Fact]


def windows(prompts: Path | None) -> list[Window]:
    """Those of all texts in `tests/offline_texts`. What the simulator answers here is of no account."""
    with Simulator() as simulator:
        os.environ.update(simulator.environment)
        return [
            window for name in SETS for text in read_texts(name) for window in _of_text(name, text, simulator, prompts)
        ]


def _of_text(name: str, text: HandText, simulator: Simulator, prompts: Path | None) -> Iterator[Window]:
    simulator.reset()
    checker = FactChecker(
        model=MODEL, base_url=simulator.base_url, plan="grounded", docs=text.sources, prompts=prompts, cache=False
    )
    checker.check(text.answer, prompt=text.question)
    facts = {f"{name}-{text.name}-{number}": fact for number, fact in enumerate(text.facts, 1)}
    asked = [[message["content"] for message in body["messages"]] for body in simulator.bodies(GroundedFacts.__name__)]
    for system, user in sorted(asked, key=lambda messages: len(Blocks(messages[1]).one("answer"))):
        shown = _plain(" ".join(block.text for block in Blocks(user).all("sentence")))
        stated = {id_: fact for id_, fact in facts.items() if _plain(text.answer[fact.start : fact.end]) in shown}
        yield Window(RenderedPrompt(PROMPT, system, user), stated)


def _plain(text: str) -> str:
    """A sentence without line ends, and a row of a table without its outer bars, which prompts may leave out."""
    return " ".join(text.split()).strip("| ")
