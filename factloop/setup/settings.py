"""Settings of a run: frozen, validated once, saved with every result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from factloop.core.errors import ConfigError
from factloop.core.records import Plan
from factloop.tools.calls.patience import PATIENCE_S
from factloop.tools.calls.tape import TapeMode
from factloop.tools.calls.tracing import TracingMode
from factloop.tools.calls.urls import is_base_url, without_userinfo

Positive = Annotated[float, Field(gt=0)]


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str | int | Path) else value


def _as_base_url(value: str) -> str:
    if not is_base_url(value):
        raise PydanticCustomError("base_url", "must be an http:// or https:// address")
    return value


BaseUrl = Annotated[str, AfterValidator(_as_base_url)]
Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]


class RunSettings(BaseModel):
    """What every run has: limits, prices, caches, prompts, a seed. Names are those of the command line's flags."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: Annotated[int, Field(ge=64)] | None = 1024
    """Of one reply; None leaves it to the server."""
    timeout_s: Positive = 60.0
    """For one model call or search."""
    patience_s: Positive = PATIENCE_S
    """How long a server may accept no request before it is given up, and what needs it is unscored."""
    concurrency: Annotated[int, Field(ge=0)] = 64
    """Model calls in flight over the whole run; 0 for no bound."""
    requests_per_second: Positive | None = None
    """Ceiling on the pace of model calls; without it the pace is learnt from the server."""
    max_calls: Annotated[int, Field(ge=0)] | None = None
    budget_usd: Annotated[float, Field(ge=0.0)] | None = None
    price_in: Annotated[float, Field(ge=0.0)] | None = None
    """USD per million prompt tokens, where the model's price is not known."""
    price_out: Annotated[float, Field(ge=0.0)] | None = None
    """USD per million completion tokens."""
    cache: bool = True
    """Keep answers already paid for, and indexes of documents; without it nothing is written to the cache folder."""
    cache_dir: Path | None = None
    """Of what is kept; the user's cache folder by default."""
    cache_mb: Annotated[int, Field(ge=1)] = 1024
    """Millions of bytes that all this may take: the oldest goes, indexes and word vectors before answers."""
    cache_days: Positive = 30.0
    """For which answers are kept, and what else nobody uses."""
    prompts: Path | None = None
    """Folder of prompts that replace packaged ones of the same name."""
    recording: Path | None = None
    """File of answers recorded earlier, or to be recorded; it takes the place of the cache."""
    recording_mode: TapeMode = "replay"
    """`replay` asks nobody and needs no key; `record` makes the file anew; `new` adds what it does not hold."""
    embeddings: str | None = None
    """Sentence-transformers model, by path or name; needs the extra `semantic`."""

    @property
    def replays(self) -> bool:
        """Whether every answer comes from a recording."""
        return self.recording is not None and self.recording_mode == "replay"

    tracing: TracingMode = "off"
    """Spans for OpenTelemetry: `on`, or `content` to have what was said in them; needs the extra `tracing`."""

    @classmethod
    def of(cls, base: Self | None = None, **changes: Any) -> Self:
        """Settings with changes. Raises ConfigError that names the wrong setting."""
        values = {**(base.model_dump(exclude_unset=True) if base is not None else {}), **changes}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(describe(error)) from error


class CheckSettings(RunSettings):
    """What shapes a check."""

    model: str | None = None
    """`provider:name`, for example `openai:gpt-4o-mini`; None for the offline engine."""
    base_url: BaseUrl | None = None
    """Of any OpenAI-compatible server."""
    plan: Plan | None = None
    """`paper`, `fused` or `grounded`; None: `grounded` where all that is searched are given documents, else `fused`."""
    search: Names = ()
    """Names of web search tools: serper, wikipedia, searxng."""
    docs: Names = ()
    """Files, folders or globs of local documents."""
    k: Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_as_tuple)] = (64,)
    """Each K of F1@K. The paper reports 64, the median number of facts of its responses, and 178, the maximum."""
    max_searches: Annotated[int, Field(ge=1, le=50)] = 5
    """Queries for one claim, at most: the plan `paper` asks as many unless it has found all there is to find."""
    results_per_search: Annotated[int, Field(ge=1, le=50)] = 3
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = 0.1
    """As in SAFE; None leaves it to the server."""
    deadline_s: Positive | None = None
    """In which each check ends, from its start; what is not judged by then is unscored, `timeout`."""
    max_calls_per_check: Annotated[int, Field(ge=0)] | None = None
    """Model calls of each check, beside `max_calls` of all."""
    budget_usd_per_check: Annotated[float, Field(ge=0.0)] | None = None
    """Beside `budget_usd` of all."""
    tool_calling: bool = True
    """Offer the search tools to the model as tools; where it has no tool calling it chooses by structured output."""
    logprobs: bool = True
    """Ask the model's server for the log-probabilities of each verdict, where it gives them: the verdict's score."""
    cascade: Path | None = None
    """File by `factloop cascade tune`: a cheap verifier settles clear claims, the model judges the rest."""
    spacy_model: str | None = None
    """Installed spaCy pipeline for the offline engine's linguistics; rules without it."""
    seed: int = 0
    """Of everything drawn at random: the jitter of retries."""


def describe(error: ValidationError) -> str:
    """The first thing wrong, in one line: the setting, what is wrong, and what was given."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        return f"there is no setting {name!r}"
    given = without_userinfo(first["input"]) if first["type"] == "base_url" else first["input"]
    return f"{name} = {given!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
