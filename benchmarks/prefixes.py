"""Counts the prompt tokens in beginnings that requests share: what a server with prefix caching saves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from os.path import commonprefix
from typing import Any

from tests.simulator.protocol import compact, text_of

CACHED_FROM = 1_024
"""Tokens from which on OpenAI keeps a prefix."""


def shared_share(bodies: Iterable[Mapping[str, Any]], *, shortest: int = 1) -> float:
    """Share of all prompt tokens that a cache which forgets nothing would hold already, as requests come one by one.

    A prefix counts from `shortest` tokens on. In sorted order the neighbour shares the longest beginning, so what two
    neighbours share is what one of them need not compute.
    """
    prompts = sorted(_as_read(body) for body in bodies)
    shared = (len(commonprefix([one, other])) // 4 for one, other in pairwise(prompts))  # noqa: RUF071 - of texts
    return sum(length for length in shared if length >= shortest) / max(1, sum(len(prompt) // 4 for prompt in prompts))


def _as_read(body: Mapping[str, Any]) -> str:
    """A prompt in the order in which OpenAI's cache has it: tools and schema before the messages."""
    first: Sequence[Any] = (body.get("tools"), body.get("response_format"))
    return "\n".join([*(compact(extra) for extra in first if extra), *map(text_of, body["messages"])])
