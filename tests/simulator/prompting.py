from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence

from tests.simulator.world import World
from tests.simulator.writing import prompt_about

OTHERWISE = "Please tell me about {}."


def propose_prompts(world: World, topic: str, number: int, known: Collection[str]) -> Sequence[str]:
    """At most `number` prompts; the second rephrases the first and the third is a known one.

    Prompts that the world has responses to come first, then those about other entities, in an order that depends on the
    topic. Empty once all are known.
    """
    answered = [(response.subject, response.prompt) for response in world.responses]
    named = {name for name, _ in answered}
    others = [(name, prompt_about(entity)) for name, entity in world.entities.items() if name not in named]
    new = [(name, prompt) for part in (answered, others) for name, prompt in _turned(part, topic)]
    new = [(name, prompt) for name, prompt in new if prompt not in known]
    if not new:
        return list(known)[:number]
    (name, first), *rest = new
    return [first, OTHERWISE.format(name), *list(known)[-1:], *(prompt for _, prompt in rest)][:number]


def _turned(part: Sequence[tuple[str, str]], topic: str) -> Sequence[tuple[str, str]]:
    start = zlib.crc32(topic.encode()) % max(1, len(part))
    return [*part[start:], *part[:start]]
