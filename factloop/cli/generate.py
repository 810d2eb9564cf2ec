"""`factloop generate`: lets a model write responses to prompts, or prompts on a topic; returns the exit code."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.cli.exits import DONE, left_unscored, messages_console, run_until_stopped
from factloop.cli.outputs import (
    STANDARD_OUTPUT,
    Terminal,
    price,
    refuse_existing,
    say,
    try_outputs,
    write_files,
    write_output,
)
from factloop.cli.pairs import pairs_given
from factloop.cli.progress import counted
from factloop.cli.watching import watched
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, to_json_line, write_atomically
from factloop.core.files.lines import STANDARD_INPUT
from factloop.core.records import Usage
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.datasets.folder import find_part, named_part
from factloop.evaluation.datasets.longfact import load_prompts, sample_prompts
from factloop.evaluation.generation.estimate import estimate_prompts, estimate_responses
from factloop.evaluation.generation.prompts import PromptsRequest, generate_prompts
from factloop.evaluation.generation.records import (
    GeneratedPrompt,
    GenerationEstimate,
    Kind,
    PromptsReport,
    ResponsesReport,
)
from factloop.evaluation.generation.response_file import read_responses
from factloop.evaluation.generation.responses import astream_responses, model_prompts
from factloop.evaluation.generation.settings import PromptSettings, ResponseSettings
from factloop.reports.figures import calls, cost, plural
from factloop.reports.visible import visible
from factloop.setup.settings import RunSettings


@dataclass(frozen=True)
class ResponsesAsk:
    """Arguments of the command, beside the settings of the model."""

    out: Path
    data: str | None
    part: Kind
    n: int
    postamble: bool
    postambles: tuple[str, ...]
    """Each `NAME=TEXT`."""
    system: str | None
    json: str | None
    dry_run: bool
    strict: bool
    quiet: bool


@dataclass(frozen=True)
class PromptsAsk:
    """Arguments of the command, beside the settings of the model."""

    out: Path
    topics: tuple[str, ...]
    kind: Kind
    n: int
    json: str | None
    run_dir: Path | None
    dry_run: bool
    strict: bool
    quiet: bool


def run_generate_longfact(ask: ResponsesAsk, flags: Mapping[str, Any]) -> int:
    """Asks for responses and appends them; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(ResponseSettings, flags, os.environ, Path.cwd())
    if ask.system is not None and not ask.system.strip():
        raise ConfigError("--system: a name is needed")
    postambles = pairs_given("--postamble-text", ask.postambles, 'NAME=TEXT, such as "short=Answer in one sentence."')
    if postambles and not ask.postamble:
        raise ConfigError("give postambles of your own (--postamble-text), or none (--no-postamble)")
    place, name = _place(ask)
    _try_outputs(ask, settings, place)
    prompts = sample_prompts(load_prompts(place), ask.n, seed=settings.seed)
    asked = model_prompts(prompts, postamble=ask.postamble, postambles=postambles)
    if ask.dry_run:
        earlier = read_responses(ask.out)
        left = [prompt for prompt in asked if prompt.key not in earlier]
        code = _print_estimate(estimate_responses(left, settings), ask.json)
        _note_shortfall(ask, len(prompts), name, messages)
        return code
    events = astream_responses(asked, settings, ask.out, data=name, system=ask.system)
    work = watched(events, "prompt", messages, quiet=ask.quiet)
    report = run_until_stopped(work, messages, run_dir=ask.out, kept=settings.cache)
    write_files({ask.json: partial(to_json, report)})
    if not ask.quiet and ask.json != STANDARD_OUTPUT:
        say(lambda: Terminal().print("\n".join(_responses_in_words(report)), soft_wrap=True))
    _note_shortfall(ask, len(prompts), name, messages)
    if ask.strict and report.unanswered:
        return left_unscored(messages, f"{plural(len(report.unanswered), 'prompt')} without a response (--strict)")
    if report.unanswered and not report.n_answered:
        return left_unscored(messages, "no response came: the same command asks again")
    return DONE


def _note_shortfall(ask: ResponsesAsk, n_prompts: int, name: str, messages: Console) -> None:
    """Says at the end that there were fewer prompts than wanted: what stops a run is said first, and alone."""
    if n_prompts < ask.n and not ask.quiet:
        messages.print(f"factloop: {visible(name)} has {plural(n_prompts, 'prompt')}, not {ask.n:,}", soft_wrap=True)


def _place(ask: ResponsesAsk) -> tuple[str | Path, str]:
    """The file or folder of the prompts, and its name in reports."""
    if ask.data == STANDARD_INPUT:
        return STANDARD_INPUT, "standard input"
    if ask.data is None:
        return find_part("longfact", ask.part, None), named_part("longfact", ask.part)
    place = find_part("longfact", ask.part, ask.data)
    return place, place.name or str(place)


def _responses_in_words(report: ResponsesReport) -> list[str]:
    said = f"{report.out}: {plural(report.n_answered, 'response')} of {report.system}"
    said += f" to {plural(report.n_prompts, 'prompt')} of {report.data}"
    lines = [said + (f", {report.n_earlier:,} of them from before" if report.n_earlier else "")]
    if report.n_cut_off:
        limit = report.generated_by.sampling.get("max_tokens", "the server's limit of")
        lines.append(f"  {report.n_cut_off:,} cut off at {limit} tokens (--max-tokens): marked cut_off, and kept")
    if report.unanswered:
        reasons = Counter(one.reason.value for one in report.unanswered)
        why = ", ".join(f"{count:,} × {reason}" for reason, count in sorted(reasons.items()))
        lines.append(f"  {len(report.unanswered):,} without a response ({why}): the same command asks again")
        lines.append(f"  the first: {report.unanswered[0].said}")
    return [visible(line) for line in (*lines, _spent(report.usage))]


def run_generate_prompts(ask: PromptsAsk, flags: Mapping[str, Any]) -> int:
    """Collects prompts and writes them; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(PromptSettings, flags, os.environ, Path.cwd())
    asked = PromptsRequest(ask.topics, ask.n, ask.kind, str(ask.out))
    _try_outputs(ask, settings, run_dir=ask.run_dir)
    if ask.dry_run:
        return _print_estimate(estimate_prompts(ask.topics, ask.n, ask.kind, settings), ask.json)
    refuse_existing((str(ask.out),), "its prompts were paid for")
    work = _prompts(ask, asked, settings, messages)
    rows, report = run_until_stopped(work, messages, run_dir=ask.run_dir, kept=settings.cache)
    if rows:
        write_atomically(ask.out, "".join(map(to_json_line, rows)))
    write_files({ask.json: partial(to_json, report)})
    if not ask.quiet and ask.json != STANDARD_OUTPUT:
        say(lambda: Terminal().print("\n".join(_prompts_in_words(report)), soft_wrap=True))
    if not rows:
        return left_unscored(messages, "no prompt came, and nothing was written")
    short = [topic for topic in report.topics if topic.n_kept < topic.n_wanted]
    if ask.strict and short:
        return left_unscored(messages, f"{plural(len(short), 'topic')} with fewer prompts than wanted (--strict)")
    return DONE


async def _prompts(
    ask: PromptsAsk, asked: PromptsRequest, settings: PromptSettings, messages: Console
) -> tuple[list[GeneratedPrompt], PromptsReport]:
    with counted(messages, "topic", len(asked.topics), quiet=ask.quiet) as progress:
        return await generate_prompts(asked, settings, run_dir=ask.run_dir, note=progress.one_more)


def _prompts_in_words(report: PromptsReport) -> list[str]:
    kept = sum(topic.n_kept for topic in report.topics)
    lines = [f"{report.out}: {plural(kept, 'prompt')} about {report.kind} by {report.generated_by.model}"]
    for topic in report.topics:
        dropped = f"{topic.n_repeated:,} repeated, {topic.n_alike:,} alike, {topic.n_unusable:,} unusable"
        fewer = "" if topic.n_kept >= topic.n_wanted else f", not {topic.n_wanted:,}"
        said = f"  {topic.topic}: {topic.n_kept:,}{fewer}, in {plural(topic.n_rounds, 'round')}; dropped {dropped}"
        lines.append(said + (f"; {plural(len(topic.failures), 'failed round')}" if topic.failures else ""))
        lines += [f"    the first: {topic.failures[0]}"] if topic.failures else []
    if any(topic.failures for topic in report.topics):
        lines.append("  failed rounds are asked again by the same command with another --out; the others are kept")
    return [visible(line) for line in (*lines, _spent(report.usage))]


def _try_outputs(
    ask: ResponsesAsk | PromptsAsk, settings: RunSettings, *inputs: str | Path, run_dir: Path | None = None
) -> None:
    out = ask.out
    if str(out) == STANDARD_OUTPUT:
        raise ConfigError("--out: name a file; rows are kept in it as they come")
    try_outputs((str(out), ask.json), map(str, inputs), settings=settings, run_dir=run_dir)
    if out.exists() and not out.is_file():
        raise ConfigError(f"{out}: is not a plain file; name another")


def _spent(usage: Usage) -> str:
    return f"  {calls(usage)}; {cost(usage)}"


def _print_estimate(estimate: GenerationEstimate, json: str | None) -> int:
    if json is not None:
        write_output(json, to_json(estimate))
    if json == STANDARD_OUTPUT:
        return DONE
    completion = estimate.most_completion_tokens
    replies = "as many in replies as the server allows" if completion is None else f"{completion:,} in replies"
    lines = (
        "Nothing was spent. Upper bound, retries apart:",
        f"  at most {plural(estimate.most_calls, 'model call')}",
        f"  at most about {estimate.most_prompt_tokens:,} tokens in prompts, and {replies}",
        f"  {_most_usd(estimate)}",
    )
    say(lambda: Terminal().print("\n".join(lines)))
    return DONE


def _most_usd(estimate: GenerationEstimate) -> str:
    if estimate.most_usd is not None:
        return f"at most {estimate.most_usd:.4f} USD"
    unbounded = estimate.most_completion_tokens is None
    return "no bound on the price without --max-tokens" if unbounded else price(None)
