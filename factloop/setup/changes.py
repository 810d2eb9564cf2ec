"""The settings for checks as keyword arguments, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from factloop.core.records import JuryRule, Plan, Repeats
from factloop.tools.calls.modes import TapeMode, TracingMode


class CheckChanges(TypedDict, total=False):
    """The settings in `CheckSettings`, except those for which functions have separate parameters."""

    max_tokens: int | None
    prompts: str | Path | None
    budget_usd: float | None
    max_calls: int | None
    price_in: float | None
    price_out: float | None
    price_cached: float | None
    concurrency: int
    requests_per_second: float | None
    batch: bool
    batch_after_s: float
    batch_discount: float
    timeout_s: float
    patience_s: float
    rest_s: float
    cache: bool
    cache_dir: str | Path | None
    cache_mb: int
    cache_days: float
    recording_mode: TapeMode
    tracing: TracingMode
    embeddings: str | None
    jury: str | Sequence[str]
    jury_rule: JuryRule
    eligibility: bool
    judge: str | None
    allow_download: bool
    base_url: str | None
    plan: Plan | None
    verifiable: bool
    wikipedia_language: str
    wikipedia_url: str | None
    searxng_url: str | None
    fail_if_unreadable: bool
    k: int | Sequence[int]
    repeats: Repeats
    max_searches: int
    results_per_search: int
    passage_characters: int
    temperature: float | None
    deadline_s: float | None
    max_calls_per_check: int | None
    budget_usd_per_check: float | None
    max_unreadable: float
    tool_calling: bool
    logprobs: bool
    cascade: str | Path | None
    spacy_model: str | None
    seed: int
