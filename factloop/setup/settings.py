"""Settings of a run: frozen, validated once, saved with every result."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from factloop.core.errors import ConfigError
from factloop.core.records import JuryRule, Plan, Repeats
from factloop.setup.marks import (
    BATCH,
    CACHE,
    LIMITS,
    MODEL,
    PER_CHECK,
    RECORDING,
    SCORES,
    SEARCH,
    Mark,
    marked,
    path_settings,
)
from factloop.tools.calls.modes import PATIENCE_S, REST_S, TapeMode, TracingMode
from factloop.tools.calls.urls import is_base_url, without_userinfo
from factloop.tools.search.build import built_in_searches

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
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
    """Longest reply of the model, in tokens.

    None leaves it to the server."""
    prompts: Annotated[Path | None, Mark(MODEL, "FOLDER")] = None
    """Folder of prompts that replace packaged ones of the same name."""
    budget_usd: Annotated[NotNegative | None, Mark(LIMITS, whole_experiment=True)] = None
    """Stop calling models at this cost in USD; remaining claims stay unscored."""
    max_calls: Annotated[Number | None, Mark(LIMITS, whole_experiment=True)] = None
    """Stop after this many model calls, failed ones included."""
    price_in: Annotated[Price | None, Mark(LIMITS)] = None
    """USD per million prompt tokens, for a model whose price is not known."""
    price_out: Annotated[Price | None, Mark(LIMITS)] = None
    """USD per million completion tokens, for a model whose price is not known."""
    price_cached: Annotated[Price | None, Mark()] = None
    """USD per million prompt tokens that the server read from its cache. If unknown, they cost as much as other prompt
    tokens."""
    concurrency: Annotated[Number, Mark(LIMITS, whole_experiment=True)] = 64
    """Model calls at the same time; 0 for no limit."""
    requests_per_second: Annotated[Positive | None, Mark(whole_experiment=True)] = None
    """Highest rate of model calls. By default it adapts to the server."""
    batch: Annotated[bool, Mark(BATCH, whole_experiment=True)] = False
    """Use the provider's batch interface: half the price, answers within a day.

    For OpenAI and Anthropic; needs a run directory, which remembers what was submitted. Each round of a plan is a batch
    of all responses: `grounded` waits for two to four, other plans for more."""
    batch_after_s: Annotated[Positive, Mark(whole_experiment=True)] = 10.0
    """Submit a batch after this many seconds without a new request."""
    batch_discount: Annotated[float, Field(ge=0.0, le=1.0), Mark(whole_experiment=True)] = 0.5
    """Share of the price that a batch saves."""
    timeout_s: Annotated[Timeout, Mark(LIMITS, search_tools=True)] = 60.0
    """Timeout of one model call or search.

    The default for a model on this machine or in a private network is 600."""
    patience_s: Annotated[Positive, Mark()] = PATIENCE_S
    """Give up on an unresponsive server after this time; claims that need it stay unscored."""
    rest_s: Annotated[Positive, Mark()] = REST_S
    """Longest wait before trying an unresponsive server again; the first wait is 2 seconds."""
    cache: Annotated[bool, Mark(CACHE, whole_experiment=True, search_tools=True)] = True
    """Cache model replies, search results and document indexes.

    Without it nothing is written to the cache folder."""
    cache_dir: Annotated[Path | None, Mark(metavar="FOLDER", whole_experiment=True, search_tools=True)] = None
    """Cache folder. Default: the user's cache folder."""
    cache_mb: Annotated[AtLeastOne, Mark(whole_experiment=True, search_tools=True)] = 1024
    """Largest size of the cache in megabytes; the oldest entries are removed first.

    Indexes and word vectors are removed before answers."""
    cache_days: Annotated[Positive, Mark(whole_experiment=True, search_tools=True)] = 30.0
    """Remove cached replies after this many days, and indexes after this many days without use."""
    recording: Annotated[Path | None, Mark(RECORDING, "FILE", search_tools=True)] = None
    """File of recorded model replies and search results. By default it is replayed, without a key or network.

    `recording_mode` says whether it is replayed or written. It takes the place of the cache."""
    recording_mode: Annotated[TapeMode, Mark(RECORDING, search_tools=True)] = "replay"
    """Replay the recording (replay), make a new one (record), or add what is missing (new).

    `replay` makes no call and needs no key."""
    tracing: TracingMode = "off"
    """Export OpenTelemetry spans: `on`, or `content` to include prompts and replies; needs the extra `tracing`."""

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


class EmbeddingSettings(RunSettings):
    """Settings of runs that search documents or words by meaning, too."""

    embeddings: Annotated[str | None, Mark(MODEL, "MODEL", fingerprint=True, path=True, search_tools=True)] = None
    """Sentence-transformers model for semantic search, by path or name; needs the extra `semantic`."""


class CheckSettings(EmbeddingSettings):
    """Settings of a check."""

    model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Chat model, such as openai:gpt-4o-mini. Without one the offline engine judges."""
    jury: Annotated[Names, Mark(MODEL, "PROVIDER:NAME", fingerprint=True)] = ()
    """Additional chat model that judges every claim; the majority decides.

    Each one costs about as much as the first. `votes` of a claim has what every model said; a claim is unscored
    (`split_jury`) if no verdict has the votes that `jury_rule` requires."""
    jury_rule: Annotated[JuryRule, Mark(fingerprint=True)] = "majority"
    """How a jury decides: by majority, unanimously (unanimous), or by the first model that is sure (first_sure)."""
    judge: Annotated[str | None, Mark(MODEL, "NAME")] = None
    """Judge model that needs no key: minicheck, hhem, nli:MODEL and others (see docs/judges.md), by name or as
    NAME:FOLDER.

    It fills the last stage; rules split and search. With a model it is the first step of a cascade. Needs the extra
    `semantic`."""
    allow_download: Annotated[bool, Mark(MODEL)] = False
    """Download the judge's weights if they are not on this machine yet."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """Address of an OpenAI-compatible server."""
    plan: Annotated[Plan | None, Mark(MODEL)] = None
    """How a model checks: in SAFE's five stages (paper), exactly as SAFE was published (safe), in few calls per claim
    (fused), or several sentences at a time (grounded). Default: grounded with documents alone, fused otherwise.

    None: `grounded` where a model judges by given documents alone, else `fused`."""
    search: Annotated[Names, Mark(SEARCH, "NAME", names=built_in_searches, search_tools=True)] = ()
    """Web search."""
    wikipedia_language: str = "en"
    """Language code of the Wikipedia to search."""
    wikipedia_url: BaseUrl | None = None
    """Another MediaWiki for the search wikipedia: the address of the folder with api.php."""
    searxng_url: BaseUrl | None = None
    """Address of the SearXNG server."""
    docs: Annotated[Names, Mark(SEARCH, "PATH", path=True, search_tools=True)] = ()
    """Document file, folder or glob to check against."""
    fail_if_unreadable: Annotated[bool, Mark(SEARCH, search_tools=True)] = False
    """Fail if a file in a folder cannot be read. By default such files are skipped and listed."""
    k: Annotated[tuple[AtLeastOne, ...], BeforeValidator(_as_tuple), Mark(SCORES, "K")] = ()
    """Report F1@K for this K.

    The paper reports 64, the median number of facts of its responses, and 178, the maximum."""
    repeats: Annotated[Repeats, Mark(SCORES, fingerprint=True, whole_experiment=True)] = "each"
    """Count repeated claims each time, as in SAFE (each), or only once (once).

    The same fact said three times is three supported facts for F1@K with `each`, and one with `once`, which leaves the
    others out of every figure."""
    max_searches: Annotated[AFew, Mark(SEARCH, fingerprint=True)] = 5
    """Maximum number of queries per claim.

    The plan `paper` makes this many unless it has found all there is to find."""
    results_per_search: Annotated[AFew, Mark(fingerprint=True)] = 3
    """Results for each query."""
    passage_characters: Annotated[int, Field(ge=500, le=100_000), Mark(fingerprint=True)] = 6_000
    """Characters of passages that the plan `grounded` shows at once: all of a smaller set, the best of a larger one."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.1
    """Sampling temperature of the model.

    As in SAFE; None leaves it to the server."""
    deadline_s: Annotated[Positive | None, Mark(PER_CHECK)] = None
    """Stop each check after this time; remaining claims stay unscored."""
    max_calls_per_check: Annotated[Number | None, Mark(PER_CHECK)] = None
    """Stop each check after this many model calls."""
    budget_usd_per_check: Annotated[NotNegative | None, Mark(PER_CHECK)] = None
    """Stop each check at this cost in USD."""
    max_unreadable: Annotated[float, Field(gt=0.0, le=1.0), Mark()] = 0.3
    """Stop asking the model in a check when more than this share of its answers, of at least 20, cannot be read.

    An answer counts as unreadable when its repairs cannot be read either."""
    tool_calling: Annotated[bool, Mark(fingerprint=True)] = True
    """Let the model call the searches as tools.

    A model without tool calling chooses them by structured output."""
    logprobs: Annotated[bool, Mark(fingerprint=True)] = True
    """Add confidence scores when the server returns log-probabilities."""
    judge_citations: Annotated[bool, Mark(fingerprint=True)] = False
    """Judge a claim again by the documents that its sentence cites, if other documents support it.

    This checks such claims once more for each set of cited documents: with a model, one or two calls."""
    cascade: Annotated[Path | None, Mark(MODEL, "FILE")] = None
    """Cascade file from factloop research cascade tune: a cheap verifier settles the clear claims."""
    spacy_model: Annotated[str | None, Mark(fingerprint=True)] = None
    """Installed spaCy pipeline to use without a chat model. Default: the best English one."""
    seed: Annotated[int, Mark(fingerprint=True)] = 0
    """Seed for everything random, such as the jitter of retries."""

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
    return "".join(f"; did you mean {near!r}?" for near in get_close_matches(name[:LONGEST_NAME], known, n=1))
