"""Opens what the settings name on this machine: prompts, a cascade, models without a server, the cache."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from factloop.checking.cascade.stage import load_cascade
from factloop.checking.judging import named_judge
from factloop.core.extras import require
from factloop.doctor.looking import Look, WorkingPart, in_thread
from factloop.prompts.registry import PromptRegistry
from factloop.reports.figures import plural
from factloop.setup.caching.folder import refuse_unusable
from factloop.setup.caching.status import status_of
from factloop.setup.search_tools import build_embedder
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings


def looks_at_local_parts(check: CheckSettings, trust: TrustSettings) -> Iterator[Look]:
    """The embeddings of scores are those of checks, unless they alone have some."""
    if check.prompts is not None:
        yield Look("prompts", str(check.prompts), in_thread(partial(_prompts, check)))
    if check.cascade is not None and (check.judge is None or check.model is not None):
        yield Look("cascade", str(check.cascade), in_thread(partial(_cascade, check)))
    embeddings = check.embeddings or trust.embeddings
    if embeddings is not None:
        embedded = trust.model_copy(update={"embeddings": embeddings})
        yield Look("local_model", f"embeddings {embeddings}", in_thread(partial(_embeddings, embedded)))
    if trust.nli is not None:
        yield Look("local_model", f"nli {trust.nli}", in_thread(partial(_nli, trust.nli)))
    if check.spacy_model is not None:
        yield Look("local_model", f"spaCy {check.spacy_model}", in_thread(partial(_spacy, check.spacy_model)))
    if check.cache:
        yield Look("cache", "", in_thread(partial(_cache, check)))


def offline_engine() -> WorkingPart:
    """What judges where no model is named. Raises MissingExtra."""
    require("offline", "a check without a model (--model)")
    return WorkingPart(how=("the packaged baseline; no model and no judge is named",))


def named_judge_of(settings: CheckSettings) -> WorkingPart:
    """The judge without a chat model, loaded. Raises ConfigError, MissingExtra."""
    named = named_judge(settings, has_model=False)
    assert named is not None  # it is named
    upper, lower = named.fingerprint.upper, named.fingerprint.lower
    tuned = () if lower is None else (f"by your labels: {lower:g} or less is not supported, {upper:g} or more is",)
    return WorkingPart(how=(f"judges without a chat model: {named.fingerprint.verifier}", *tuned))


def _prompts(settings: CheckSettings) -> WorkingPart:
    PromptRegistry.load(settings.prompts)
    return WorkingPart(how=("read",))


def _cascade(settings: CheckSettings) -> WorkingPart:
    cascade = load_cascade(settings, has_model=settings.model is not None)
    assert cascade is not None  # it is named
    return WorkingPart(how=(f"settles clear claims by {cascade.fingerprint.verifier}",))


def _embeddings(settings: TrustSettings) -> WorkingPart:
    return WorkingPart(how=(f"loaded, {build_embedder(settings).dimension:,} dimensions",))


def _nli(path: str) -> WorkingPart:
    from factloop.tools.judges.classifiers import Nli

    Nli(path).load()
    return WorkingPart(how=("loaded",))


def _spacy(name: str) -> WorkingPart:
    from factloop.tools.text.pipeline import load_pipeline

    load_pipeline(name)
    return WorkingPart(how=("loaded",))


def _cache(settings: CheckSettings) -> WorkingPart:
    refuse_unusable(settings)
    status = status_of(settings)
    kept = f"{plural(status.answers.n, 'answer')} in {status.folder}"
    return WorkingPart(how=(kept,), limits=(f"{status.cache_mb:,} MB", f"{status.cache_days:g} days"))
