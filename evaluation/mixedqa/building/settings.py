"""Settings of a build."""

from __future__ import annotations

from typing import Annotated

from factloop.setup.marks import MODEL, Mark
from factloop.setup.settings import BaseUrl, RunSettings, Temperature, Tokens

PER_SOURCE = 200
"""Questions of each source (appendix A.3)."""


class BuildSettings(RunSettings):
    """How the systems are asked. Names are those of the command line's flags."""

    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server, for systems without one of their own."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.0
    """As in the paper (appendix A.5.4).

    None leaves it to the server."""
    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 1042
    """Tokens of one answer.

    As in the paper (appendix A.5.4)."""
    seed: int = 0
    """Seed of everything drawn at random.

    Which questions, the jitter of retries."""
