"""The windows of hand-labelled answers, as a plan first shows them to a model."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from benchmarks.without_model import SETS, Fact, LabelledText, read_texts
from factloop import FactChecker
from factloop.agents.safe.schemas import GroundedFacts, WindowFacts
from factloop.core.records import Plan
from factloop.prompts.registry import RenderedPrompt
from tests.simulator import MODEL, Simulator
from tests.simulator.blocks import Blocks

PROMPTS = {"fused": "safe/sentence_facts", "grounded": "safe/grounded_facts"}
"""The first prompt of each plan."""
OUTPUTS: dict[str, type[BaseModel]] = {"fused": WindowFacts, "grounded": GroundedFacts}
READ = ("biography", "medical", "support")
"""The answers, of both sets in `benchmarks/texts`, that the readings are of."""
_MARKER = re.compile(r"^(?:[-*•]|\d+[.)]) ")


@dataclass(frozen=True)
class Window:
    """A prompt of the plan, and the facts by hand of the sentences that it shows, by their ids."""

    prompt: RenderedPrompt
    output: type[BaseModel]
    facts: dict[str, Fact]


def windows(plan: Plan, prompts: Path | None) -> list[Window]:
    """Those of the texts that were read. What the simulator answers here is of no account."""
    with Simulator() as simulator:
        os.environ.update(simulator.environment)
        return [
            window
            for name in SETS
            for text in read_texts(name)
            if text.name in READ
            for window in _of_text(name, text, simulator, plan, prompts)
        ]


def _of_text(name: str, text: LabelledText, simulator: Simulator, plan: Plan, prompts: Path | None) -> Iterator[Window]:
    simulator.reset()
    checker = FactChecker(
        model=MODEL, base_url=simulator.base_url, plan=plan, docs=text.sources, prompts=prompts, cache=False
    )
    checker.check(text.answer, question=text.question)
    facts = {f"{name}-{text.name}-{number}": fact for number, fact in enumerate(text.facts, 1)}
    output = OUTPUTS[plan]
    asked = [[message["content"] for message in body["messages"]] for body in simulator.bodies(output.__name__)]
    for shown, user, system in sorted((_shown(user), user, system) for system, user in asked):
        stated = {id_: fact for id_, fact in facts.items() if _plain(text.answer[fact.start : fact.end]) in shown}
        yield Window(RenderedPrompt(PROMPTS[plan], system, user), output, stated)


def _shown(user: str) -> str:
    """The sentences that a prompt asks about."""
    return _plain(" ".join(block.text for block in Blocks(user).all("sentence")))


def _plain(text: str) -> str:
    """A sentence without line ends, the marker of its item and the outer bars of a row, which prompts may leave out."""
    return _MARKER.sub("", " ".join(text.split())).strip("| ")
