"""`factloop trust` reports TrustScores, and `factloop eval mixedqa` correlates them with human labels in MixedQA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from factloop.cli.console import BELOW_THRESHOLD, DONE, counted, left_unscored, note, run_until_stopped
from factloop.cli.demands import BREAKDOWNS, below_threshold, first_failure
from factloop.cli.inputs import read_text, refuse_missing_data, refuse_self_support
from factloop.cli.options import ARGUMENT, OUTPUT, Flags, Judged, Resumable, Share, Tabled, Texts, command, taking
from factloop.cli.outputs import deliver, price, show_lines, try_outputs
from factloop.cli.preparing import models_of_systems, note_unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.lines import name_of_data
from factloop.core.given_text import check_given
from factloop.core.records import UnscoredReason
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
from factloop.setup.marks import CACHE, DISTRACTORS, LIMITS, MODEL, RECORDING, SEARCH, Mark
from factloop.setup.settings import AtLeastOne
from factloop.trust.settings import SubjectModel, TrustSettings

if TYPE_CHECKING:
    from factloop.agents.trustscore.records import TrustFingerprint, TrustReport, TrustRun
    from factloop.evaluation.datasets.mixedqa import MixedQaItem, MixedQaResponse
    from factloop.evaluation.mixedqa.reference import ReferenceMetric
    from factloop.evaluation.mixedqa.scores import MixedQaResult, SystemSubject
    from factloop.trust.question_answers import QuestionAnswer

NOTHING_TO_SCORE_BY = "there is nothing to score the answers by: use --subject-model, --corpus or both"


class Trust(Judged, Tabled):
    answers: Annotated[str | None, Mark(ARGUMENT, "[FILE]")] = None
    """File of questions and responses (JSON Lines or CSV). With --long-form, the file that contains the long answer."""
    question: str | None = None
    """A single question, instead of a file. With --long-form, the question for the long answer."""
    response: str | None = None
    """The response to the question."""
    answer: bool = False
    """Ask the subject model for missing responses."""
    fail_under: Annotated[Share | None, Mark(OUTPUT, "SHARE")] = None
    """Exit with 1 if the mean score is below this value."""
    long_form: bool = False
    """Report TrustBC as well as SAFE's verdict for each claim in a long answer."""
    search: Annotated[Texts, Mark(SEARCH, "NAME")] = ()
    """Web search that SAFE uses with --long-form."""


@command(taking(TrustSettings, MODEL, SEARCH, DISTRACTORS, LIMITS, CACHE, RECORDING))
def trust(given: Trust, flags: Flags) -> int:
    require("trust", "factloop trust")
    refuse_missing_data(given.answers, flags.get("corpus"))
    from factloop.setup.recording import refuse_missing_recording

    settings = load_settings(TrustSettings, flags)
    _refuse_contradictions(given, settings)
    try_outputs(given.written, (given.answers,), settings=settings, run_dir=given.run_dir)
    refuse_missing_recording(settings)
    if given.answers is not None:
        refuse_self_support(given.answers, settings.corpus, "--corpus")
    models = settings.subject_model, settings.judge_model
    note_unsent_prompts(settings.prompts, models, remedy="--subject-model or --judge-model")
    return _long_form(given, settings) if given.long_form else _answers(given, settings)


def _refuse_contradictions(given: Trust, settings: TrustSettings) -> None:
    if given.long_form:
        if given.answers is None or given.response is not None or given.answer or given.fail_under is not None:
            raise ConfigError("--long-form accepts a file and --question, but not --response, --answer or --fail-under")
        if settings.subject_model is None:
            raise ConfigError("--long-form needs a subject model: set --subject-model")
        return
    if (given.answers is None) == (given.question is None):
        raise ConfigError("pass a file of answers, or use --question and --response")
    if given.answers is not None and given.response is not None:
        raise ConfigError("--response needs --question: pass a question instead of a file")
    if given.search:
        raise ConfigError("--search needs --long-form: add --long-form, or omit --search")
    if given.question is not None and (given.response is None) != given.answer:
        raise ConfigError("--question needs --response, or --answer to ask the subject model for a response")
    if given.answer and settings.subject_model is None:
        raise ConfigError("--answer needs a subject model: set --subject-model")
    if settings.subject_model is None and not settings.corpus:
        raise ConfigError(NOTHING_TO_SCORE_BY)


def _answers(given: Trust, settings: TrustSettings) -> int:
    from factloop.tools.search.build import check_sources
    from factloop.trust.views.html import render_trust_html
    from factloop.trust.views.terminal import print_trust_report, print_trust_run

    items = list(_items(given))
    if given.dry_run:
        check_sources((), settings.corpus)
        return _print_estimate(given, settings, items)
    work = score_all(items, settings, given.run_dir, quiet=given.quiet)
    run = run_until_stopped(work, run_dir=given.run_dir, kept=settings.cache)
    is_single = given.question is not None
    shown: TrustReport | TrustRun = run.reports[0] if is_single else run
    show = partial(print_trust_report, run.reports[0]) if is_single else partial(print_trust_run, run)
    deliver(given, shown, show, page=partial(render_trust_html, shown))
    return _exit_code(given, settings, run)


def _items(given: Trust) -> Iterator[QuestionAnswer]:
    from factloop.trust.question_answers import QuestionAnswer, load_question_answers

    if given.answers is not None:
        yield from load_question_answers(given.answers, responses_needed=not given.answer)
        return
    assert given.question is not None
    check_given("--question", given.question)
    if given.response is not None:
        check_given("--response", given.response)
    yield QuestionAnswer(id="1", question=given.question, response=given.response)


async def score_all(
    items: Sequence[QuestionAnswer],
    settings: TrustSettings,
    run_dir: Path | None,
    *,
    quiet: bool,
    subjects: Mapping[str, SubjectModel] | None = None,
) -> TrustRun:
    """Scores all answers and shows a progress bar. `subjects` maps systems to their own models, if they have any."""
    from factloop.agents.trustscore.records import TrustRun
    from factloop.trust.scorer import TrustScorer

    async with TrustScorer(settings=settings, subjects=subjects) as scorer:
        with counted("answer", len(items), quiet=quiet) as progress:
            async with aclosing(scorer.astream(items, run_dir=run_dir)) as done:
                async for report in done:
                    if isinstance(report, TrustRun):
                        return report
                    if not quiet:
                        progress.one_more(report.usage)
    raise AssertionError("the run ended without a report")


def _long_form(given: Trust, settings: TrustSettings) -> int:
    from factloop.trust.long_form import ascore_long_form, check_settings, missing_scores
    from factloop.trust.views.html import render_long_form_html
    from factloop.trust.views.terminal import print_long_form

    assert given.answers is not None
    response = read_text(given.answers)
    check_settings(settings, given.search)  # reports errors in these arguments first
    if given.dry_run:
        raise ConfigError("--dry-run cannot be used with --long-form; to estimate SAFE, use `factloop check --dry-run`")
    work = ascore_long_form(response, given.question, settings=settings, search=given.search, run_dir=given.run_dir)
    report = run_until_stopped(work, run_dir=given.run_dir, kept=settings.cache)
    deliver(given, report, partial(print_long_form, report), page=partial(render_long_form_html, report))
    unscored = missing_scores(report)
    if given.fail_if_unscored and unscored:
        return left_unscored(f"{plural(unscored, 'score')} missing (--fail-if-unscored)")
    return DONE


def _print_estimate(given: Trust, settings: TrustSettings, items: Sequence[QuestionAnswer]) -> int:
    from factloop.trust.estimate import estimate_trust

    most = estimate_trust(settings, items)
    lines = (
        f"Nothing was spent. Upper bound for {plural(most.n_answers, 'answer')}:",
        f"  at most {plural(most.most_calls, 'model call')}, {plural(most.searches, 'search')}",
        f"  at most about {most.most_prompt_tokens:,} prompt and {most.most_completion_tokens:,} completion tokens",
        f"  {'' if most.most_usd is None else 'at most '}{price(most.most_usd)}",
        "  The actual cost is lower if a subject contradicts itself, since later questions are then skipped.",
    )
    deliver(given, most, show_lines(lines))
    return DONE


def _exit_code(given: Trust, settings: TrustSettings, run: TrustRun) -> int:
    parts = [part for report in run.reports for part in (report.trust_bc, report.trust_fc)]
    failure = first_failure(((part.unscored_reason, part.rationale) for part in parts), BREAKDOWNS)
    if failure is not None and all(part.value is None for part in parts):
        return left_unscored(f"no answer could be scored: {failure}")
    missing = sum(part.unscored_reason not in (None, UnscoredReason.NO_SOURCE) for part in parts)
    if given.fail_if_unscored and missing:
        return left_unscored(f"{plural(missing, 'score')} missing (--fail-if-unscored)")
    if given.fail_under is None:
        return DONE
    both = settings.subject_model is not None and bool(settings.corpus)
    name = "TrustOV" if both else "TrustBC" if settings.subject_model is not None else "TrustFC"
    summary = run.summary
    score = {"TrustOV": summary.trust_ov, "TrustBC": summary.trust_bc, "TrustFC": summary.trust_fc}[name]
    if score.mean is not None and score.mean >= given.fail_under:
        return DONE
    note(below_threshold(f"mean {name}", score.mean, given.fail_under, f" of {plural(score.n_scored, 'answer')}"))
    return BELOW_THRESHOLD


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
