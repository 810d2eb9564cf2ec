"""`factloop eval mixedqa`: TrustScores and other metrics of MixedQA's responses, and how far they agree with people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from factloop.agents.trustscore.records import TrustFingerprint, TrustRun
from factloop.cli.exits import DONE, messages_console, run_until_stopped
from factloop.cli.inputs import name_of_data
from factloop.cli.models_of_systems import models_given
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.cli.self_support import refuse_self_support
from factloop.cli.trust import NOTHING_TO_SCORE_BY, score_all
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.datasets.folder import find_part, named_part
from factloop.evaluation.datasets.mixedqa import MixedQaItem, MixedQaResponse
from factloop.evaluation.datasets.mixedqa_published import load_any_mixedqa
from factloop.evaluation.mixedqa.reference.base import ReferenceMetric
from factloop.evaluation.mixedqa.reference.build import build_metrics
from factloop.evaluation.mixedqa.scores import (
    MixedQaResult,
    ScoredResponse,
    SystemSubject,
    correlate_with_labels,
    scored_response,
)
from factloop.evaluation.mixedqa.views.html import render_mixedqa_html
from factloop.evaluation.mixedqa.views.terminal import print_mixedqa
from factloop.evaluation.statistics.correlation import Method
from factloop.trust.question_answers import OwnAnswer, QuestionAnswer
from factloop.trust.settings import TrustSettings


@dataclass(frozen=True)
class MixedQaAsk:
    """Arguments of the command, beside the settings of the run."""

    data: str | None
    """The data; None for what `factloop data get` got."""
    systems: tuple[str, ...]
    limit: int | None
    metrics: tuple[str, ...]
    method: Method
    subjects: tuple[str, ...]
    """Each `SYSTEM=MODEL`."""
    subject_urls: tuple[str, ...]
    """Each `SYSTEM=URL`."""
    json: str | None
    html: str | None
    run_dir: Path | None
    download: bool
    quiet: bool


@dataclass(frozen=True)
class _ResponseToScore:
    """A response that TrustScore is to score."""

    question_id: str
    question: str
    references: tuple[str, ...]
    response: MixedQaResponse

    @property
    def id(self) -> str:
        """An id that no other response has: in the question's id a slash is marked as its own."""
        return f"{self.question_id.replace('~', '~~').replace('/', '~|')}/{self.response.system}"

    def item(self, *, has_own_subject: bool) -> QuestionAnswer:
        """The response as it is scored: by the subject of its system, or by the one of all."""
        item = QuestionAnswer(
            id=self.id, question=self.question, response=self.response.text, reference_answers=self.references
        )
        return OwnAnswer(**dict(item), subject=self.response.system) if has_own_subject else item


def run_mixedqa(ask: MixedQaAsk, flags: Mapping[str, Any]) -> int:
    """Scores, correlates and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(TrustSettings, flags, os.environ, Path.cwd())
    metrics = build_metrics(ask.metrics, allow_download=ask.download)
    subjects = models_given("--subject", ask.subjects, "--subject-url", ask.subject_urls)
    if subjects and settings.subject_model is not None:
        raise ConfigError("give one subject for all systems (--subject-model), or one for each (--subject)")
    has_trust = settings.subject_model is not None or bool(subjects) or bool(settings.corpus)
    if not has_trust and not metrics:
        raise ConfigError(f"{NOTHING_TO_SCORE_BY}, or a metric (--metric)")
    place = str(find_part("mixedqa", "answers", ask.data))
    try_outputs((ask.json, ask.html), (place,), settings=settings, run_dir=ask.run_dir)
    refuse_self_support(place, settings.corpus, "--corpus")
    models = settings.subject_model, settings.judge_model, *subjects
    note_unsent_prompts(settings.prompts, models, remedy="--subject, --subject-model or --judge-model")
    named = named_part("mixedqa", "answers") if ask.data is None else name_of_data(ask.data)
    asked = list(_asked(islice(load_any_mixedqa(place), ask.limit), ask.systems))
    absent = [system for system in ask.systems if all(one.response.system != system for one in asked)]
    if absent:
        raise ConfigError(f"{place}: no response of {', '.join(absent)}")
    lacking = [name for name in dict.fromkeys(one.response.system for one in asked) if name not in subjects]
    if subjects and lacking:
        said = f"no subject model for {', '.join(lacking)}"
        raise ConfigError(f"{said}: give one (--subject {lacking[0]}=MODEL), or leave it out (--system)")
    items = [
        one.item(has_own_subject=bool(subjects))
        for one in asked
        if one.response.text.strip()  # an empty response is nothing to ask about: it stays unscored
    ]
    if not items:
        raise ConfigError(f"{place}: every response is empty")
    work = score_all(items, settings, ask.run_dir, messages, quiet=ask.quiet, subjects=subjects)
    run = run_until_stopped(work, messages, run_dir=ask.run_dir, kept=settings.cache)
    result = _correlated(ask, named, asked, run, _scores(metrics, asked, run))
    write_files({ask.json: partial(to_json, result), ask.html: partial(render_mixedqa_html, result)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_mixedqa(result, Terminal()))
    return DONE


def _subjects(fingerprints: Mapping[str, TrustFingerprint]) -> Iterator[SystemSubject]:
    for system, one in fingerprints.items():
        assert one.subject_model is not None  # each system has its own
        yield SystemSubject(
            system=system, model=one.subject_model, base_url=one.subject_base_url, sampling=one.subject_sampling
        )


def _asked(items: Iterator[MixedQaItem], systems: Sequence[str]) -> Iterator[_ResponseToScore]:
    for item in items:
        for response in item.responses:
            if not systems or response.system in systems:
                yield _ResponseToScore(item.id, item.question, item.reference_answers, response)


def _scores(
    metrics: Sequence[ReferenceMetric], asked: Sequence[_ResponseToScore], run: TrustRun
) -> list[dict[str, float | None]]:
    """The score that each metric gives each response. Evidence is the passages that TrustFC found."""
    found = {report.id: report.trust_fc.passages for report in run.reports}
    evidence = ["\n".join(passage.passage for passage in found.get(one.id, ())) or None for one in asked]
    texts = [one.response.text for one in asked]
    references, questions = [one.references for one in asked], [one.question for one in asked]
    columns = {metric.name: metric.score(texts, references, questions, evidence) for metric in metrics}
    return [{name: column[place] for name, column in columns.items()} for place in range(len(asked))]


def _correlated(
    ask: MixedQaAsk,
    data: str,
    asked: Sequence[_ResponseToScore],
    run: TrustRun,
    scores: Sequence[Mapping[str, float | None]],
) -> MixedQaResult:
    reports = {report.id: report for report in run.reports}
    scored = [
        scored_response(one.question_id, one.response, reports[one.id], of_one)
        if one.id in reports
        else ScoredResponse(
            question_id=one.question_id,
            system=one.response.system,
            human_correct=one.response.human_correct,
            reference=of_one,
        )
        for one, of_one in zip(asked, scores, strict=True)
    ]
    fingerprints = {one.response.system: reports[one.id].fingerprint for one in asked if one.id in reports}
    shared = next(iter(fingerprints.values()))
    if ask.subjects:
        shared = shared.model_copy(update={"subject_model": None, "subject_base_url": None, "subject_sampling": {}})
    return correlate_with_labels(
        scored,
        fingerprint=shared,
        subjects=list(_subjects(fingerprints)) if ask.subjects else (),
        usage=run.usage,
        created_at=run.created_at,
        data=data,
        warnings=run.warnings,
        method=ask.method,
    )
