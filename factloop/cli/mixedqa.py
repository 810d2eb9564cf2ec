"""`factloop eval mixedqa` correlates TrustScore and other metrics with the human labels in MixedQA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal

from factloop.cli.console import DONE, run_until_stopped
from factloop.cli.inputs import refuse_self_support
from factloop.cli.options import Flags, Resumable, Tabled, Texts, command, taking
from factloop.cli.outputs import deliver, try_outputs
from factloop.cli.preparing import models_of_systems, note_unsent_prompts
from factloop.cli.trust import NOTHING_TO_SCORE_BY, score_all
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.lines import name_of_data
from factloop.entrance.settings_sources import load_settings
from factloop.setup.marks import CACHE, DISTRACTORS, LIMITS, MODEL, SEARCH, Mark
from factloop.setup.settings import AtLeastOne
from factloop.trust.settings import TrustSettings

if TYPE_CHECKING:
    from factloop.agents.trustscore.records import TrustFingerprint, TrustRun
    from factloop.evaluation.datasets.mixedqa import MixedQaItem, MixedQaResponse
    from factloop.evaluation.mixedqa.reference import ReferenceMetric
    from factloop.evaluation.mixedqa.scores import MixedQaResult, SystemSubject
    from factloop.trust.question_answers import QuestionAnswer


class MixedQa(Tabled, Resumable):
    data: Annotated[str | None, Mark(metavar="PATH")] = None
    """MixedQA file (- for standard input). Default: the file downloaded by factloop research data get."""
    system: Annotated[Texts, Mark(metavar="NAME")] = ()
    """Use only the responses of this system."""
    subject: Annotated[Texts, Mark(metavar="SYSTEM=MODEL[@URL]")] = ()
    """Subject model for the responses of one system, as in the paper. Add its URL if it differs from --base-url."""
    limit: AtLeastOne | None = None
    """Use only the first N questions."""
    metric: Annotated[Texts, Mark(metavar="NAME")] = ()
    """Metric to compare: em, bleu-1, bleu-4, rouge-l, meteor, lexical (all the previous ones), bertscore:MODEL,
    bartscore-ref:MODEL or gptscore-src:MODEL (the last two with -ref, -src or -evid)."""
    allow_download: bool = False
    """Download weights if MODEL is a name on the Hugging Face Hub."""
    method: Literal["pearson", "spearman", "kendall"] = "pearson"
    """Correlation coefficient. The paper uses pearson."""


@dataclass(frozen=True)
class _ResponseToScore:
    question_id: str
    question: str
    references: tuple[str, ...]
    response: MixedQaResponse

    @property
    def id(self) -> str:
        """A unique id. Slashes in the question's id are escaped."""
        return f"{self.question_id.replace('~', '~~').replace('/', '~|')}/{self.response.system}"

    def item(self, *, has_own_subject: bool) -> QuestionAnswer:
        """The item to score, with its system's own subject or the shared one."""
        from factloop.trust.question_answers import OwnAnswer, QuestionAnswer

        item = QuestionAnswer(
            id=self.id, question=self.question, response=self.response.text, reference_answers=self.references
        )
        return OwnAnswer(**dict(item), subject=self.response.system) if has_own_subject else item


@command(taking(TrustSettings, MODEL, SEARCH, DISTRACTORS, LIMITS, CACHE))
def mixedqa(given: MixedQa, flags: Flags) -> int:
    require("evaluation", "factloop eval mixedqa")
    require("trust", "factloop eval mixedqa")
    from factloop.evaluation.datasets.folder import find_part, named_part
    from factloop.evaluation.datasets.mixedqa import load_any_mixedqa
    from factloop.evaluation.mixedqa.reference import build_metrics
    from factloop.evaluation.mixedqa.views import print_mixedqa, render_mixedqa_html

    settings = load_settings(TrustSettings, flags)
    metrics = build_metrics(given.metric, allow_download=given.allow_download)
    subjects = models_of_systems("--subject", given.subject)
    if subjects and settings.subject_model is not None:
        raise ConfigError("set one model for all systems (--subject-model) or one per system (--subject), not both")
    has_trust = settings.subject_model is not None or bool(subjects) or bool(settings.corpus)
    if not has_trust and not metrics:
        raise ConfigError(f"{NOTHING_TO_SCORE_BY}, or a metric (--metric)")
    place = str(find_part("mixedqa", "answers", given.data))
    try_outputs(given.written, (place,), settings=settings, run_dir=given.run_dir)
    refuse_self_support(place, settings.corpus, "--corpus")
    models = settings.subject_model, settings.judge_model, *subjects
    note_unsent_prompts(settings.prompts, models, remedy="--subject, --subject-model or --judge-model")
    named = named_part("mixedqa", "answers") if given.data is None else name_of_data(given.data)
    asked = list(_asked(islice(load_any_mixedqa(place), given.limit), given.system))
    absent = [system for system in given.system if all(one.response.system != system for one in asked)]
    if absent:
        raise ConfigError(f"{place} contains no responses by {', '.join(absent)}; check the names in --system")
    lacking = [name for name in dict.fromkeys(one.response.system for one in asked) if name not in subjects]
    if subjects and lacking:
        said = f"no subject model for {', '.join(lacking)}"
        raise ConfigError(f"{said}: set one (--subject {lacking[0]}=MODEL), or select other systems with --system")
    items = [
        one.item(has_own_subject=bool(subjects))
        for one in asked
        if one.response.text.strip()  # empty responses stay unscored, because they cannot be judged
    ]
    if not items:
        raise ConfigError(f"{place}: every response is empty; pass a file that contains responses")
    work = score_all(items, settings, given.run_dir, quiet=given.quiet, subjects=subjects)
    run = run_until_stopped(work, run_dir=given.run_dir, kept=settings.cache)
    result = _correlated(given, named, asked, run, _scores(metrics, asked, run))
    deliver(given, result, partial(print_mixedqa, result), page=partial(render_mixedqa_html, result))
    return DONE


def _subjects(fingerprints: Mapping[str, TrustFingerprint]) -> Iterator[SystemSubject]:
    from factloop.evaluation.mixedqa.scores import SystemSubject

    for system, one in fingerprints.items():
        assert one.subject_model is not None  # each system has its own subject
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
    found = {report.id: report.trust_fc.passages for report in run.reports}
    evidence = ["\n".join(passage.passage for passage in found.get(one.id, ())) or None for one in asked]
    texts = [one.response.text for one in asked]
    references, questions = [one.references for one in asked], [one.question for one in asked]
    columns = {metric.name: metric.score(texts, references, questions, evidence) for metric in metrics}
    return [{name: column[place] for name, column in columns.items()} for place in range(len(asked))]


def _correlated(
    given: MixedQa,
    data: str,
    asked: Sequence[_ResponseToScore],
    run: TrustRun,
    scores: Sequence[Mapping[str, float | None]],
) -> MixedQaResult:
    from factloop.evaluation.mixedqa.scores import ScoredResponse, correlate_with_labels, scored_response
    from factloop.evaluation.statistics.correlation import Method

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
    if given.subject:
        shared = shared.model_copy(update={"subject_model": None, "subject_base_url": None, "subject_sampling": {}})
    return correlate_with_labels(
        scored,
        fingerprint=shared,
        subjects=list(_subjects(fingerprints)) if given.subject else (),
        usage=run.usage,
        created_at=run.created_at,
        data=data,
        warnings=run.warnings,
        method=Method(given.method),
    )
