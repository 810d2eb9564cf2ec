"""Flags that are settings of a run, in groups that commands take whole.

    @with_flags(CheckFlags, LimitFlags)
    def check(answer: ..., **settings: Any) -> None: ...

The command line shows each flag of the groups as if the command had it as a parameter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import TypeVar, get_type_hints

from factloop.cli import flags

_PANELS = (None, flags.MODEL, flags.SEARCH, flags.DISTRACTORS, flags.LIMITS, flags.OUTPUT)
"""In the order of help; panels of a command's own come first."""

Command = TypeVar("Command", bound=Callable[..., None])


class CheckFlags:
    """Of SAFE's loop: `factloop.setup.settings.CheckSettings`, but for K."""

    model: flags.Model = None
    base_url: flags.BaseUrl = None
    plan: flags.Plan = None
    cascade: flags.Cascade = None
    temperature: flags.Temperature = None
    max_tokens: flags.MaxTokens = None
    tool_calling: flags.ToolCalling = None
    logprobs: flags.VerdictLogprobs = None
    prompts: flags.Prompts = None
    embeddings: flags.Embeddings = None
    spacy_model: flags.SpacyModel = None
    search: flags.SearchNames = None
    docs: flags.Docs = None
    max_searches: flags.MaxSearches = None
    results_per_search: flags.ResultsPerSearch = None


class TrustFlags:
    """Of TrustScore: `factloop.setup.trust_settings.TrustSettings`, but for its distractors."""

    subject_model: flags.SubjectModel = None
    judge_model: flags.JudgeModel = None
    base_url: flags.BaseUrl = None
    judge_base_url: flags.JudgeBaseUrl = None
    nli: flags.Nli = None
    temperature: flags.SubjectTemperature = None
    max_tokens: flags.MaxTokens = None
    logprobs: flags.Logprobs = None
    prompts: flags.Prompts = None
    corpus: flags.Corpus = None
    passages: flags.Passages = None
    max_checks: flags.MaxChecks = None
    window: flags.Window = None


class DistractorFlags:
    """Where distractors come from."""

    embeddings: flags.Embeddings = None
    kb: flags.Kb = None
    dbpedia: flags.DBpedia = None
    spotlight_url: flags.SpotlightUrl = None
    sparql_url: flags.SparqlUrl = None
    vectors: flags.Vectors = None
    seed: flags.Seed = None


class ScoreFlags:
    """Of TrustScore where one server checks and scores: who is asked, who judges, and what is searched."""

    subject_model: flags.SubjectModel = None
    judge_model: flags.JudgeModel = None
    judge_base_url: flags.JudgeBaseUrl = None
    nli: flags.Nli = None
    corpus: flags.Corpus = None


class LimitFlags:
    """What a run may take, and what it keeps for other runs."""

    budget_usd: flags.BudgetUsd = None
    max_calls: flags.MaxCalls = None
    price_in: flags.PriceIn = None
    price_out: flags.PriceOut = None
    concurrency: flags.Concurrency = None
    requests_per_second: flags.RequestsPerSecond = None
    timeout_s: flags.Timeout = None
    patience_s: flags.Patience = None
    cache: flags.Cache = None
    cache_dir: flags.CacheDir = None
    cache_mb: flags.CacheMb = None
    cache_days: flags.CacheDays = None


class CheckLimitFlags:
    """What one check may take."""

    deadline_s: flags.Deadline = None
    max_calls_per_check: flags.MaxCallsPerCheck = None
    budget_usd_per_check: flags.BudgetUsdPerCheck = None


class CorrectionFlags:
    """What becomes of what is in doubt: `factloop.setup.correction_settings.CorrectionSettings`, but for its checks."""

    unproven: flags.Unproven = None
    unchecked: flags.Unchecked = None


class RecordingFlags:
    """Answers of models and searches from a file, or into one."""

    recording: flags.RecordingFile = None
    recording_mode: flags.RecordingMode = None


def with_flags(*groups: type) -> Callable[[Command], Command]:
    """Gives a command the flags of the groups; it gets them as keyword arguments that it does not name."""

    def give(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = (
            flag.replace(kind=Parameter.KEYWORD_ONLY)
            for flag in signature.parameters.values()
            if flag.kind is not Parameter.VAR_KEYWORD
        )
        taken = (flag for group in groups for flag in _flags_of(group))
        parameters = sorted([*own, *taken], key=_place)
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer reads
        return command

    return give


def _place(flag: Parameter) -> int:
    notes = getattr(flag.annotation, "__metadata__", ())
    panels = (getattr(note, "rich_help_panel", None) for note in notes)
    return max((_PANELS.index(panel) for panel in panels if panel in _PANELS), default=0)


def _flags_of(group: type) -> Iterator[Parameter]:
    for name, annotation in get_type_hints(group, include_extras=True).items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(group, name), annotation=annotation)
