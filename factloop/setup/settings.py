"""The settings of a run: immutable, validated once, and saved with every result."""

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
"""In seconds. Sockets reject longer timeouts, and the error would look like a failure of the server."""
Price = Annotated[float, Field(ge=0.0, le=1_000_000)]
"""In USD per million tokens. The upper limit keeps costs finite, because JSON has no infinite numbers."""
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
WRITTEN = ("cache_dir", "recording")  # settings with paths to which a run may write


class RunSettings(BaseModel):
    """The settings of all runs. Flags, environment variables and keys in `factloop.toml` are derived from them."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    max_tokens: Annotated[Tokens | None, Mark(MODEL)] = 1024
    """Maximum length of a model reply, in tokens.

    None uses the server's limit."""
    prompts: Annotated[Path | None, Mark(MODEL, "FOLDER")] = None
    """Folder of prompts that replace bundled prompts of the same name."""
    budget_usd: Annotated[NotNegative | None, Mark(LIMITS, whole_experiment=True)] = None
    """Stop calling models once this much has been spent, in USD. The remaining claims stay unscored."""
    max_calls: Annotated[Number | None, Mark(LIMITS, whole_experiment=True)] = None
    """Stop after this many model calls, including failed ones."""
    price_in: Annotated[Price | None, Mark(LIMITS)] = None
    """Price in USD per million prompt tokens, for a model whose price factloop does not know."""
    price_out: Annotated[Price | None, Mark(LIMITS)] = None
    """Price in USD per million completion tokens, for a model whose price factloop does not know."""
    price_cached: Annotated[Price | None, Mark()] = None
    """Price in USD per million prompt tokens read from the server's cache. Default: that of other prompt tokens."""
    concurrency: Annotated[Number, Mark(LIMITS, whole_experiment=True)] = 64
    """Maximum number of concurrent model calls (0 for no limit)."""
    requests_per_second: Annotated[Positive | None, Mark(whole_experiment=True)] = None
    """Maximum number of model calls per second. By default, the rate adapts to the server."""
    batch: Annotated[bool, Mark(BATCH, whole_experiment=True)] = False
    """Use the provider's batch API, which costs half as much and answers within a day.

    Available for OpenAI and Anthropic. Needs a run directory, which records submitted batches. Each round of a plan is
    a single batch for all responses: `grounded` takes two to four rounds, and other plans take more."""
    batch_after_s: Annotated[Positive, Mark(whole_experiment=True)] = 10.0
    """Submit a batch once there has been no new request for this many seconds."""
    batch_discount: Annotated[float, Field(ge=0.0, le=1.0), Mark(whole_experiment=True)] = 0.5
    """Fraction of the price saved by batching."""
    timeout_s: Annotated[Timeout, Mark(LIMITS, search_tools=True)] = 60.0
    """Timeout for each model call or search.

    The default for a model on this machine or on a private network is 600."""
    patience_s: Annotated[Positive, Mark()] = PATIENCE_S
    """Give up on an unresponsive server after this many seconds. Claims that need the server stay unscored."""
    rest_s: Annotated[Positive, Mark()] = REST_S
    """Maximum wait in seconds before trying an unresponsive server again. The first wait is 2 seconds."""
    cache: Annotated[bool, Mark(CACHE, whole_experiment=True, search_tools=True)] = True
    """Cache model replies, search results and document indexes."""
    cache_dir: Annotated[Path | None, Mark(metavar="FOLDER", whole_experiment=True, search_tools=True)] = None
    """Cache folder. Default: a folder in your user cache directory."""
    cache_mb: Annotated[AtLeastOne, Mark(whole_experiment=True, search_tools=True)] = 1024
    """Maximum size of the cache in megabytes. The oldest entries are removed first.

    Indexes and word vectors are removed before answers."""
    cache_days: Annotated[Positive, Mark(whole_experiment=True, search_tools=True)] = 30.0
    """Remove cached replies after this many days, and indexes after this many days without use."""
    recording: Annotated[Path | None, Mark(RECORDING, "FILE", search_tools=True)] = None
    """File of recorded model replies and search results. By default, it is replayed without a key or network access.

    `recording_mode` determines whether the file is replayed or written. A recording replaces the cache."""
    recording_mode: Annotated[TapeMode, Mark(RECORDING, search_tools=True)] = "replay"
    """Replay the recording (replay), make a new one (record), or add only the calls that it does not contain (new)."""
    tracing: TracingMode = "off"
    """Export OpenTelemetry spans (`on`), or spans with prompts and replies (`content`). Needs the `tracing` extra."""

    @property
    def read_paths(self) -> tuple[str, ...]:
        """The paths that a run reads, apart from `written_paths`. The run's output must not overwrite them."""
        values = (getattr(self, name) for name in path_settings(type(self)) if name not in WRITTEN)
        listed = (value if isinstance(value, tuple) else (value,) for value in values if value is not None)
        return tuple(str(one) for group in listed for one in group)

    @property
    def written_paths(self) -> tuple[str, ...]:
        """The paths that a run may write to."""
        places = (self.cache_dir if self.cache else None, self.recording)
        return tuple(str(place) for place in places if place is not None)

    @property
    def limits_money(self) -> bool:
        """Whether the cost is limited, in which case the model's price must be known."""
        return self.budget_usd is not None

    @property
    def replays(self) -> bool:
        return self.recording is not None and self.recording_mode == "replay"

    def of_search(self, name: str) -> dict[str, Any]:
        """The settings of one search, such as `language` and `url` for `wikipedia`."""
        fields = (field for field in type(self).model_fields if field.startswith(f"{name}_"))
        return {field.removeprefix(f"{name}_"): getattr(self, field) for field in fields}

    @classmethod
    def of(cls, base: Self | None = None, **changes: Any) -> Self:
        """Applies changes to the settings. Raises ConfigError with the name of an invalid setting."""
        values = {**(base.model_dump(exclude_unset=True) if base is not None else {}), **changes}
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(describe(error, cls.model_fields)) from error


class EmbeddingSettings(RunSettings):
    """Settings of runs that can also search by meaning."""

    embeddings: Annotated[str | None, Mark(MODEL, "MODEL", fingerprint=True, path=True, search_tools=True)] = None
    """Path or name of a sentence-transformers model for semantic search. Needs the `semantic` extra."""


class CheckSettings(EmbeddingSettings):
    model: Annotated[str | None, Mark(MODEL, "PROVIDER:NAME")] = None
    """Chat model, such as openai:gpt-4o-mini. If not set, the offline engine judges the claims."""
    jury: Annotated[Names, Mark(MODEL, "PROVIDER:NAME", fingerprint=True)] = ()
    """Additional chat model that judges every claim. The majority of the models decides.

    Each of these models costs about as much as the first. A claim's `votes` contain the vote of every model. A claim is
    unscored (`split_jury`) if no verdict gets the votes that `jury_rule` requires."""
    jury_rule: Annotated[JuryRule, Mark(fingerprint=True)] = "majority"
    """How the jury decides: by majority, unanimously (unanimous), or by the first model that is sure (first_sure)."""
    eligibility: Annotated[bool, Mark(fingerprint=True)] = False
    """Ask the model and the rest of the jury whether the response does what its prompt asks for. If it does not, `eval`
    counts none of its claims as supported."""
    judge: Annotated[str | None, Mark(MODEL, "NAME")] = None
    """Judge model that runs without an API key: minicheck, hhem, nli:MODEL or another (see docs/judges.md). NAME:FOLDER
    uses your own weights.

    It judges the claims, while rules do the splitting and searching. Together with a model, it is the first step of a
    cascade. Needs the `semantic` extra."""
    allow_download: Annotated[bool, Mark(MODEL)] = False
    """Download the judge's weights if they are not on this machine yet."""
    base_url: Annotated[BaseUrl | None, Mark(MODEL, "URL")] = None
    """URL of an OpenAI-compatible server."""
    plan: Annotated[Plan | None, Mark(MODEL)] = None
    """How the model checks claims: paper (SAFE's five stages), safe (SAFE exactly as published), fused (fewer calls per
    claim) or grounded (several sentences at a time). Default: grounded if only documents are searched, else fused."""
    verifiable: Annotated[bool, Mark(fingerprint=True)] = False
    """With the `safe` plan, follow VeriScore: extract only verifiable claims, and search once for each.

    Each sentence is read together with the three sentences before it and the sentence after it."""
    search: Annotated[Names, Mark(SEARCH, "NAME", names=built_in_searches, search_tools=True)] = ()
    """Web search to use."""
    wikipedia_language: str = "en"
    """Language code of the Wikipedia to search."""
    wikipedia_url: BaseUrl | None = None
    """URL of a MediaWiki site to search instead of Wikipedia (the folder that contains api.php)."""
    searxng_url: BaseUrl | None = None
    """URL of the SearXNG server."""
    docs: Annotated[Names, Mark(SEARCH, "PATH", path=True, search_tools=True)] = ()
    """File, folder or glob of documents to check against."""
    fail_if_unreadable: Annotated[bool, Mark(SEARCH, search_tools=True)] = False
    """Fail if a file in a folder cannot be read. By default, such files are skipped and listed."""
    k: Annotated[tuple[AtLeastOne, ...], BeforeValidator(_as_tuple), Mark(SCORES, "K")] = ()
    """Report F1@K for this K.

    The paper reports 64, the median number of facts in its responses, and 178, the maximum."""
    repeats: Annotated[Repeats, Mark(SCORES, fingerprint=True, whole_experiment=True)] = "each"
    """How to count repeated claims: every time, as SAFE does (each), or only once (once). With core, count only a
    largest set of claims in which none entails another.

    For F1@K, a fact that is stated three times counts as three supported facts with `each`. With `once`, it counts as
    one, and its repetitions are excluded from all figures. `core` also excludes the paraphrases and trivial claims that
    `judge` (by default, the bundled baseline) finds, and reports the figures for all claims as well."""
    max_searches: Annotated[AFew, Mark(SEARCH, fingerprint=True)] = 5
    """Maximum number of queries per claim.

    The `paper` plan always makes this many queries, unless there is nothing more to find."""
    results_per_search: Annotated[AFew, Mark(fingerprint=True)] = 3
    """Number of results for each query."""
    passage_characters: Annotated[int, Field(ge=500, le=100_000), Mark(fingerprint=True)] = 6_000
    """Number of characters from the best passages that the `grounded` plan shows the model at once. Documents that are
    up to 50% longer are shown in full."""
    temperature: Annotated[Temperature | None, Mark(MODEL)] = 0.1
    """Sampling temperature of the model.

    The default is SAFE's; None uses the server's default."""
    deadline_s: Annotated[Positive | None, Mark(PER_CHECK)] = None
    """Stop each check after this many seconds. The remaining claims stay unscored."""
    max_calls_per_check: Annotated[Number | None, Mark(PER_CHECK)] = None
    """Stop each check after this many model calls."""
    budget_usd_per_check: Annotated[NotNegative | None, Mark(PER_CHECK)] = None
    """Stop each check once it has cost this much, in USD."""
    max_unreadable: Annotated[float, Field(gt=0.0, le=1.0), Mark()] = 0.3
    """Stop querying the model in a check if more than this fraction of at least 20 replies cannot be parsed.

    A reply counts as unreadable only if it could not be repaired either."""
    tool_calling: Annotated[bool, Mark(fingerprint=True)] = True
    """Let the model call searches as tools.

    Models without tool calling request searches through structured output."""
    logprobs: Annotated[bool, Mark(fingerprint=True)] = True
    """Add confidence scores when the server returns log-probabilities."""
    cascade: Annotated[Path | None, Mark(MODEL, "FILE")] = None
    """Cascade file written by factloop research cascade tune. A cheap verifier then settles the clear-cut claims."""
    spacy_model: Annotated[str | None, Mark(fingerprint=True)] = None
    """spaCy pipeline to use without a chat model. Default: the best English pipeline that is installed."""
    seed: Annotated[int, Mark(fingerprint=True)] = 0
    """Random seed for resampling and for the jitter of retries."""

    @property
    def limits_money(self) -> bool:
        return super().limits_money or self.budget_usd_per_check is not None

    @property
    def of_search_tools(self) -> Self:
        """A copy with only the settings that affect search tools. Checkers with equal copies can share their tools."""
        own = {f"{name}_{option}" for name in self.search for option in self.of_search(name)}
        return type(self)(**{field: getattr(self, field) for field in {*marked(type(self), "search_tools"), *own}})


def describe(error: ValidationError, known: Collection[str]) -> str:
    """Describes the first problem in one line: the setting, its value and what is wrong. `known` lists all settings."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        return f"there is no setting {name!r}{is_it(name, known)}"
    given = without_userinfo(first["input"]) if first["type"] == "base_url" else first["input"]
    return f"{name} = {given!r}: {first['msg'][0].lower()}{first['msg'][1:]}"


def is_it(name: str, known: Collection[str]) -> str:
    """The end of an error message that suggests the most similar setting, or "" if there is none."""
    return "".join(f"; did you mean {near!r}?" for near in get_close_matches(name[:LONGEST_NAME], known, n=1))
