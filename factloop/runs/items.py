"""What a run over a data set judges: responses, some with their facts given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.datasets.responses import GivenResponse
from factloop.records import GivenFacts


@dataclass(frozen=True)
class RunItem:
    """One response of one system to one prompt."""

    id: str
    system: str
    prompt_id: str
    prompt: str | None
    response: str
    facts: tuple[GivenFacts, ...] | None = None
    """None: the response is split."""
    labels: tuple[tuple[FactLabel, ...], ...] = ()
    """People's label of each given fact, sentence by sentence."""


def response_items(responses: Iterable[GivenResponse]) -> Iterator[RunItem]:
    """Responses as they are loaded, to be split and judged."""
    for one in responses:
        yield RunItem(id=one.id, system=one.system, prompt_id=one.prompt_id, prompt=one.prompt, response=one.response)
