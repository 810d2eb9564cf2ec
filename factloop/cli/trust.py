"""`factloop trust`: reads answers and flags, and gives TrustScores and an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.agents.trustscore.records import TrustReport, TrustRun
from factloop.cli.demands import BREAKDOWNS, below_threshold, first_failure
from factloop.cli.exits import BELOW_THRESHOLD, DONE, left_unscored, messages_console, run_until_stopped
from factloop.cli.inputs import read_text
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files, write_output
from factloop.cli.progress import counted
from factloop.cli.self_support import refuse_self_support
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.core.given_text import check_given
from factloop.core.records import UnscoredReason
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
from factloop.setup.recording import refuse_missing_recording
from factloop.tools.search.build import check_sources
from factloop.trust.estimate import TrustEstimate, estimate_trust
from factloop.trust.long_form import ascore_long_form, check_settings, missing_scores
from factloop.trust.question_answers import QuestionAnswer, load_question_answers
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import SubjectModel, TrustSettings
from factloop.trust.views.html import render_trust_html
from factloop.trust.views.long_form_html import render_long_form_html
from factloop.trust.views.long_form_terminal import print_long_form
from factloop.trust.views.terminal import print_trust_report, print_trust_run

NOTHING_TO_SCORE_BY = "there is nothing to score by: name a subject (--subject-model), documents (--corpus), or both"


@dataclass(frozen=True)
class TrustAsk:
    """Arguments of the command, beside the settings of the run."""

    answers: str | None
    question: str | None
    response: str | None
    prompt: str | None
    search: tuple[str, ...]
    json: str | None
    html: str | None
    run_dir: Path | None
    fail_under: float | None
    answer: bool
    long_form: bool
    dry_run: bool
    strict: bool
    quiet: bool


def run_trust(ask: TrustAsk, flags: Mapping[str, Any]) -> int:
    """Scores and writes the outputs; returns the exit code. Raises FactloopError for wrong input."""
    settings = load_settings(TrustSettings, flags, os.environ, Path.cwd())
    _refuse_contradictions(ask, settings)
    try_outputs((ask.json, ask.html), (ask.answers,), settings=settings, run_dir=ask.run_dir)
    refuse_missing_recording(settings)
    if ask.answers is not None:
        refuse_self_support(ask.answers, settings.corpus, "--corpus")
    models = settings.subject_model, settings.judge_model
    note_unsent_prompts(settings.prompts, models, remedy="--subject-model or --judge-model")
    return _run_long_form(ask, settings) if ask.long_form else _run_answers(ask, settings)


def _refuse_contradictions(ask: TrustAsk, settings: TrustSettings) -> None:
    """Raises ConfigError for flags that do not go together, and for a run that could score nothing."""
    if (ask.answers is None) == (ask.question is None):
        raise ConfigError("give a file of answers, or one with --question and --response")
    if ask.answers is not None and ask.response is not None:
        raise ConfigError("--response goes with --question; a file has responses of its own")
    if ask.fail_under is not None and not 0.0 <= ask.fail_under <= 1.0:
        raise ConfigError(f"--fail-under {ask.fail_under:g}: scores are between 0 and 1")
    if ask.long_form:
        if ask.question is not None or ask.response is not None or ask.answer or ask.fail_under is not None:
            said = "takes a file and --prompt, not --question, --response, --answer or --fail-under"
            raise ConfigError(f"--long-form {said}")
        if settings.subject_model is None:
            raise ConfigError("--long-form asks a subject model: name one (--subject-model)")
        return
    if ask.prompt is not None or ask.search:
        raise ConfigError("--prompt and --search go with --long-form")
    if ask.question is not None and (ask.response is None) != ask.answer:
        raise ConfigError("--question needs either --response, or --answer to ask the subject for it")
    if ask.answer and settings.subject_model is None:
        raise ConfigError("--answer asks a subject model: name one (--subject-model)")
    if settings.subject_model is None and not settings.corpus:
        raise ConfigError(NOTHING_TO_SCORE_BY)


def _run_answers(ask: TrustAsk, settings: TrustSettings) -> int:
    messages = messages_console()
    items = list(_items(ask))
    if ask.dry_run:
        check_sources((), settings.corpus)
        return print_trust_estimate(estimate_trust(settings, items), ask.json)
    work = score_all(items, settings, ask.run_dir, messages, quiet=ask.quiet)
    run = run_until_stopped(work, messages, run_dir=ask.run_dir, kept=settings.cache)
    is_single = ask.question is not None
    shown: TrustReport | TrustRun = run.reports[0] if is_single else run
    write_files({ask.json: partial(to_json, shown), ask.html: partial(render_trust_html, shown)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        printing = partial(print_trust_report, run.reports[0]) if is_single else partial(print_trust_run, run)
        say(lambda: printing(Terminal()))
    return _exit_code(ask, settings, run, messages)


def _items(ask: TrustAsk) -> Iterator[QuestionAnswer]:
    if ask.answers is not None:
        yield from load_question_answers(ask.answers, responses_needed=not ask.answer)
        return
    assert ask.question is not None
    check_given("--question", ask.question)
    if ask.response is not None:
        check_given("--response", ask.response)
    yield QuestionAnswer(id="1", question=ask.question, response=ask.response)


async def score_all(
    items: Sequence[QuestionAnswer],
    settings: TrustSettings,
    run_dir: Path | None,
    messages: Console,
    *,
    quiet: bool,
    subjects: Mapping[str, SubjectModel] | None = None,
) -> TrustRun:
    """Scores all answers, with a progress bar on the console; `subjects` are those of systems that have one each."""
    async with TrustScorer(settings=settings, subjects=subjects) as scorer:
        with counted(messages, "answer", len(items), quiet=quiet) as progress:
            async with aclosing(scorer.astream(items, run_dir=run_dir)) as done:
                async for report in done:
                    if isinstance(report, TrustRun):
                        return report
                    if not quiet:
                        progress.one_more(report.usage)
    raise AssertionError("a run ends with its report")


def _run_long_form(ask: TrustAsk, settings: TrustSettings) -> int:
    messages = messages_console()
    assert ask.answers is not None
    response = read_text(ask.answers)
    check_settings(settings, ask.search)  # what is wrong with them is said first
    if ask.dry_run:
        raise ConfigError("--dry-run does not go with --long-form; see factloop check --dry-run for SAFE's part")
    work = ascore_long_form(response, ask.prompt, settings=settings, search=ask.search, run_dir=ask.run_dir)
    report = run_until_stopped(work, messages, run_dir=ask.run_dir, kept=settings.cache)
    write_files({ask.json: partial(to_json, report), ask.html: partial(render_long_form_html, report)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_long_form(report, Terminal()))
    unscored = missing_scores(report)
    return left_unscored(messages, f"{unscored} scores are missing (--strict)") if ask.strict and unscored else DONE


def print_trust_estimate(estimate: TrustEstimate, json: str | None) -> int:
    """Prints what a run would cost, on the terminal or as JSON."""
    if json is not None:
        write_output(json, to_json(estimate))
    if json == STANDARD_OUTPUT:
        return DONE
    cost = "price unknown: give --price-in and --price-out"
    if estimate.most_usd is not None:
        cost = f"at most about {estimate.most_usd:.4f} USD"
    lines = (
        f"Nothing was spent. Upper bound for {plural(estimate.n_answers, 'answer')}:",
        f"  at most {estimate.most_calls} model calls, {estimate.searches} searches",
        f"  at most about {estimate.most_prompt_tokens} prompt and {estimate.most_completion_tokens} completion tokens",
        f"  {cost}",
        "  An inconsistent choice ends the checks of an answer early.",
    )
    say(lambda: Terminal().print("\n".join(lines)))
    return DONE


def _exit_code(ask: TrustAsk, settings: TrustSettings, run: TrustRun, messages: Console) -> int:
    parts = [part for report in run.reports for part in (report.trust_bc, report.trust_fc)]
    failure = first_failure(((part.unscored_reason, part.rationale) for part in parts), BREAKDOWNS)
    if failure is not None and all(part.value is None for part in parts):
        return left_unscored(messages, f"no answer could be scored: {failure}")
    missing = sum(part.unscored_reason not in (None, UnscoredReason.NO_SOURCE) for part in parts)
    if ask.strict and missing:
        return left_unscored(messages, f"{missing} scores are missing (--strict)")
    if ask.fail_under is None:
        return DONE
    both = settings.subject_model is not None and bool(settings.corpus)
    name = "TrustOV" if both else "TrustBC" if settings.subject_model is not None else "TrustFC"
    summary = run.summary
    score = {"TrustOV": summary.trust_ov, "TrustBC": summary.trust_bc, "TrustFC": summary.trust_fc}[name]
    if score.mean is not None and score.mean >= ask.fail_under:
        return DONE
    said = below_threshold(f"mean {name}", score.mean, ask.fail_under, f" of {plural(score.n_scored, 'answer')}")
    messages.print(f"factloop: {said}", soft_wrap=True)
    return BELOW_THRESHOLD
