"""Settings of a run: frozen, validated once, saved with every result."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from factloop.core.errors import ConfigError
from factloop.core.records import Plan, Repeats
from factloop.setup.marks import CACHE, LIMITS, MODEL, PER_CHECK, RECORDING, SCORES, SEARCH, Mark, marked, path_settings
from factloop.tools.calls.modes import PATIENCE_S, TapeMode, TracingMode
from factloop.tools.calls.urls import is_base_url, without_userinfo
from factloop.tools.search.registry import built_in_searches

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Timeout = Annotated[float, Field(gt=0, le=1_000_000)]
"""Longer ones are refused by sockets, as failures of whatever is asked."""
Price = Annotated[float, Field(ge=0.0, le=1_000_000)]
"""Costs stay finite: JSON has no other."""
Temperature = Annotated[float, Field(ge=0.0, le=2.0)]
Tokens = Annotated[int, Field(ge=64)]
Number = Annotated[int, Field(ge=0)]
AtLeastOne = Annotated[int, Field(ge=1)]
AFew = Annotated[int, Field(ge=1, le=50)]


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str | int | Path) else value


def _as_base_url(value: str) -> str:
    if not is_base_url(value):
        raise PydanticCustomError("base_url", "must be an http:// or https:// address")
    return value


BaseUrl = Annotated[str, AfterValidator(_as_base_url)]
Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
LONGEST_NAME = 100
WRITTEN = ("cache_dir", "recording")
"""Settings that are paths which a run may write."""


class RunSettings(BaseModel):
    """Settings of every run: limits, prices, caches, prompts, a seed. Flags, environment and file derive from them."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 1024
    """Tokens of one reply.

    None leaves it to the server."""
    prompts: Annotated[Path | None, Mark(MODEL, "FOLDER")] = None
    """Prompts that replace packaged ones of the same name."""
    embeddings: Annotated[str | None, Mark(MODEL, "MODEL", fingerprint=True, path=True, search_tools=True)] = None
    """Sentence-transformers model, path or name; needs the extra `semantic`."""
    budget_usd: Annotated[NotNegative | None, Mark(LIMITS, whole_experiment=True)] = None
    """Stop spending here; the rest stays unscored."""
    max_calls: Annotated[Number | None, Mark(LIMITS, whole_experiment=True)] = None
    """Model calls, failed ones included."""
    price_in: Annotated[Price | None, Mark(LIMITS)] = None
    """USD per million prompt tokens, where the model's price is not known."""
    price_out: Annotated[Price | None, Mark(LIMITS)] = None
    """USD per million completion tokens."""
    concurrency: Annotated[Number, Mark(LIMITS, whole_experiment=True)] = 64
    """Model calls in flight over the whole run; 0 for no bound."""
    requests_per_second: Annotated[Positive | None, Mark(LIMITS, whole_experiment=True)] = None
    """Ceiling on the pace of model calls; otherwise it is learnt from the server."""
    timeout_s: Annotated[Timeout, Mark(LIMITS, search_tools=True)] = 60.0
    """Seconds for one model call or search.

    Unless it is set, a model on this machine or in a private network has 600."""
    patience_s: Annotated[Positive, Mark(LIMITS)] = PATIENCE_S
    """A server that accepts no request for so long is given up, and what needs it is unscored."""
    cache: Annotated[bool, Mark(CACHE, whole_experiment=True, search_tools=True)] = True
    """Keep answers already paid for, and indexes of documents.

    Without it nothing is written to the cache folder."""
    cache_dir: Annotated[Path | None, Mark(CACHE, "FOLDER", whole_experiment=True, search_tools=True)] = None
    """Folder to keep them in; the user's cache folder without it."""
    cache_mb: Annotated[AtLeastOne, Mark(CACHE, whole_experiment=True, search_tools=True)] = 1024
    """Millions of bytes that all this may take; the oldest goes.

    Indexes and word vectors go before answers."""
    cache_days: Annotated[Positive, Mark(CACHE, whole_experiment=True, search_tools=True)] = 30.0
    """Days for which answers are kept, and indexes and vectors out of use."""
    recording: Annotated[Path | None, Mark(RECORDING, "FILE", search_tools=True)] = None
    """Take every answer from this recording: no key, no network.

    Answers recorded earlier, or to be recorded; it takes the place of the cache."""
    recording_mode: Annotated[TapeMode, Mark(RECORDING, search_tools=True)] = "replay"
    """Replay it, or make it anew (record), or add what it does not hold (new).

    `replay` makes no call and needs no key."""
    tracing: TracingMode = "off"
    """Spans for OpenTelemetry: `on`, or `content` to have what was said in them; needs the extra `tracing`."""

    @property
    def read_paths(self) -> tuple[str, ...]:
        """The files and folders that a run reads, other than `written_paths`: no output may overwrite them."""
        values = (getattr(self, name) for name in path_settings(type(self)) if name not in WRITTEN)
        listed = (value if isinstance(value, tuple) else (value,) for value in values if value is not None)
        return tuple(str(one) for group in listed for one in group)

    @property
    def written_paths(self) -> tuple[str, ...]:
        """The files and folders that the user named for a run to write, whatever it is asked."""
        places = (self.cache_dir if self.cache else None, self.recording)
        return tuple(str(place) for place in places if place is not None)

    @property
    def limits_money(self) -> bool:
        """Whether anything bounds what a run may cost, so that the model's price must be known."""
        return self.budget_usd is not None

    @property
    def replays(self) -> bool:
        """Whether every answer comes from a recording."""
        return self.recording is not None and self.recording_mode == "replay"

    def of_search(self, name: str) -> dict[str, Any]:
        """What is set for the search of that name: of `wikipedia`, for one, `language` and `url`."""
        fields = (field for field in type(self).model_fields if field.startswith(f"{name}_"))
        return {field.removeprefix(f"{name}_"): getattr(self, field) for field in fields}

    @classmethod
    def of(cls, base: Self | None = None, **changes: Any) -> Self:
        """Settings with changes. Raises ConfigError that names the wrong setting."""
        values = {**(base.model_dump(exclude_unset=True) if base is not None else {}), **changes}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(describe(error, cls.model_fields)) from error


class CheckSettings(RunSettings):
    """Settings of a check."""

    model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Chat model, such as openai:gpt-4o-mini. Without one the offline engine judges."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server."""
    plan: Annotated[Plan | None, Mark(MODEL)] = None
    """SAFE's loop as published (paper), in few calls (fused), or in windows of sentences (grounded: the default where a
    model judges by documents alone; fused is it elsewhere).

    None: `grounded` where a model judges by given documents alone, else `fused`."""
    strict_paper: Annotated[bool, Mark(MODEL, fingerprint=True)] = False
    """The plan paper without departures that can be avoided: repeats judged each, whole answers shown, all rounds.

    docs/papers.md lists the departures. Any other plan refuses it."""
    search: Annotated[Names, Mark(SEARCH, "NAME", names=built_in_searches, search_tools=True)] = ()
    """Web search by name."""
    wikipedia_language: Annotated[str, Mark(SEARCH, "CODE")] = "en"
    """Language of the search wikipedia, as in the address of its encyclopaedia."""
    wikipedia_url: Annotated[BaseUrl | None, Mark(SEARCH, "URL")] = None
    """Another MediaWiki for the search wikipedia: the address of the folder that holds api.php."""
    searxng_url: Annotated[BaseUrl | None, Mark(SEARCH, "URL")] = None
    """Address of the server for the search searxng."""
    docs: Annotated[Names, Mark(SEARCH, "PATH", path=True, search_tools=True)] = ()
    """File, folder or glob of documents."""
    strict_docs: Annotated[bool, Mark(SEARCH, search_tools=True)] = False
    """A file of a folder that cannot be read is an error, instead of being left out and named."""
    k: Annotated[tuple[AtLeastOne, ...], BeforeValidator(_as_tuple), Mark(SCORES, "K")] = ()
    """K of F1@K, which is reported for each K given.

    The paper reports 64, the median number of facts of its responses, and 178, the maximum."""
    repeats: Annotated[Repeats, Mark(SCORES, fingerprint=True, whole_experiment=True)] = "each"
    """Claims that repeat another of the response: each counts, as in SAFE's code, or only the first (once).

    The same fact said three times is three supported facts for F1@K with `each`, and one with `once`, which leaves the
    others out of every figure."""
    max_searches: Annotated[AFew, Mark(SEARCH, fingerprint=True)] = 5
    """Queries for one claim, at most.

    The plan `paper` asks as many unless it has found all there is to find."""
    results_per_search: Annotated[AFew, Mark(SEARCH, fingerprint=True)] = 3
    """Results of one query."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.1
    """Temperature of the model.

    As in SAFE; None leaves it to the server."""
    deadline_s: Annotated[Positive | None, Mark(PER_CHECK)] = None
    """Each check ends then, from its start; what is left is unscored."""
    max_calls_per_check: Annotated[Number | None, Mark(PER_CHECK)] = None
    """Model calls of each check, beside those of all."""
    budget_usd_per_check: Annotated[NotNegative | None, Mark(PER_CHECK)] = None
    """Dollars of each check, beside the budget of all."""
    tool_calling: Annotated[bool, Mark(MODEL, fingerprint=True)] = True
    """Offer the searches to the model as tools.

    Where it has no tool calling it chooses by structured output."""
    logprobs: Annotated[bool, Mark(MODEL, fingerprint=True)] = True
    """Have scores of verdicts, where the server gives log-probabilities."""
    cascade: Annotated[Path | None, Mark(MODEL, "FILE")] = None
    """Cascade made by factloop cascade tune: a cheap verifier settles clear claims."""
    spacy_model: Annotated[str | None, Mark(MODEL, "NAME", fingerprint=True)] = None
    """Installed spaCy pipeline for the offline engine; rules without it."""
    seed: Annotated[int, Mark(fingerprint=True)] = 0
    """Seed of everything drawn at random: the jitter of retries."""

    @property
    def limits_money(self) -> bool:
        return super().limits_money or self.budget_usd_per_check is not None

    @property
    def of_search_tools(self) -> Self:
        """These settings where they shape the search tools, and defaults elsewhere: equal ones open the same tools."""
        own = {f"{name}_{option}" for name in self.search for option in self.of_search(name)}
        return type(self)(**{field: getattr(self, field) for field in {*marked(type(self), "search_tools"), *own}})


def describe(error: ValidationError, known: Collection[str]) -> str:
    """The first thing wrong, in one line: the setting, what is wrong, and what was given; `known`: all settings."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        return f"there is no setting {name!r}{is_it(name, known)}"
    given = without_userinfo(first["input"]) if first["type"] == "base_url" else first["input"]
    return f"{name} = {given!r}: {first['msg'][0].lower()}{first['msg'][1:]}"


def is_it(name: str, known: Collection[str]) -> str:
    """The end of a message on an unknown setting, which asks for the nearest known one; empty where none is near."""
    return "".join(f"; is it {near!r}?" for near in get_close_matches(name[:LONGEST_NAME], known, n=1))
