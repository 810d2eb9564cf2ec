"""`factloop research generate` lets a model answer LongFact's prompts, or write similar prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import Field

from factloop.cli.console import DONE, counted, left_unscored, note, run_until_stopped, watched
from factloop.cli.options import AsJson, Estimated, Flags, Quiet, Resumable, Texts, command, taking
from factloop.cli.outputs import STANDARD_OUTPUT, deliver, price, refuse_existing, show_lines, try_outputs
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json_line, write_atomically
from factloop.core.files.lines import STANDARD_INPUT
from factloop.core.records import Record, Usage
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.generation.settings import PromptSettings, ResponseSettings
from factloop.reports.figures import calls, cost, plural
from factloop.setup.marks import CACHE, LIMITS, Mark
from factloop.setup.settings import AtLeastOne, RunSettings

if TYPE_CHECKING:
    from factloop.evaluation.datasets.longfact import AnyPrompt
    from factloop.evaluation.generation.records import GenerationEstimate, PromptsReport, ResponsesReport


class Generate(Quiet, AsJson, Estimated):
    out: Annotated[Path, Mark(metavar="FILE")]
    """Write the output to this file as JSON Lines."""


class LongFact(Generate):
    out: Annotated[Path, Mark(metavar="FILE")]
    """Append the responses to this file. Running the same command again resumes the run."""
    data: Annotated[str | None, Mark(metavar="PATH")] = None
    """Folder with LongFact, or any file with a prompt in each row (- for standard input). Default: the folder
    downloaded by factloop research data get."""
    part: Annotated[str, Mark(metavar="PART")] = "objects"
    """Part of LongFact (objects or concepts), or NAME:PART for another data set, such as factbench:tier-1."""
    n: AtLeastOne = 250
    """Number of prompts to draw."""
    no_postamble: bool = False
    """Do not add the paper's request for as many details as possible."""
    system: Annotated[str | None, Mark(metavar="NAME")] = None
    """Name of the model in tables. Default: the model's own name."""


class Prompts(Generate, Resumable):
    out: Annotated[Path, Mark(metavar="FILE")]
    """New file for the prompts, which you can pass to generate longfact."""
    topic: Annotated[Texts, Mark(metavar="TEXT")]
    """Topic, such as mycology. Use @FILE for topics in a file (one per line), or longfact for the paper's 38 topics."""
    part: Literal["objects", "concepts"] = "objects"
    """Ask about objects or about concepts."""
    n: Annotated[int, Field(ge=1, le=1000)] = 30
    """Number of prompts for each topic."""


@command(taking(ResponseSettings, "model", "base_url", "temperature", "max_tokens", "seed", LIMITS, CACHE))
def longfact(given: LongFact, flags: Flags) -> int:
    from factloop.evaluation.datasets.longfact import sample_prompts, with_postamble
    from factloop.evaluation.generation.response_file import read_responses
    from factloop.evaluation.generation.responses import astream_responses
    from factloop.evaluation.generation.settings import estimate_responses

    settings = load_settings(ResponseSettings, flags)
    if given.system is not None and not given.system.strip():
        raise ConfigError("--system must not be blank")
    place, name = _place(given)
    _try_outputs(given, settings, place)
    prompts = sample_prompts(_prompts(given, place), given.n, seed=settings.seed)
    if not given.no_postamble and _dataset(given)[0] == "longfact":
        prompts = [with_postamble(one) for one in prompts]
    if given.dry_run:
        earlier = read_responses(given.out)
        left = [prompt for prompt in prompts if prompt.id not in earlier]
        _print_estimate(given, estimate_responses(left, settings))
        _note_shortfall(given, len(prompts), name)
        return DONE
    events = astream_responses(prompts, settings, given.out, data=name, system=given.system)
    work = watched(events, "prompt", quiet=given.quiet)
    report = run_until_stopped(work, run_dir=given.out, kept=settings.cache)
    deliver(given, report, show_lines(_responses_in_words(report)))
    _note_shortfall(given, len(prompts), name)
    if report.unanswered and not report.n_answered:
        return left_unscored("no responses were received; repeat the command to try again")
    return DONE


def _note_shortfall(given: LongFact, n_prompts: int, name: str) -> None:
    """Reports that there were fewer prompts than requested. Called last, because errors take precedence."""
    if n_prompts < given.n and not given.quiet:
        note(f"{name} has only {plural(n_prompts, 'prompt')}, not {given.n:,}")


def _place(given: LongFact) -> tuple[str | Path, str]:
    from factloop.evaluation.datasets.folder import find_part, named_part

    if given.data == STANDARD_INPUT:
        return STANDARD_INPUT, "standard input"
    dataset, part = _dataset(given)
    place = find_part(dataset, part, given.data)
    return place, named_part(dataset, part) if given.data is None else place.name or str(place)


def _dataset(given: LongFact) -> tuple[str, str]:
    name, _, part = given.part.rpartition(":")
    return name or "longfact", part


def _prompts(given: LongFact, place: str | Path) -> Iterator[AnyPrompt]:
    from factloop.evaluation.datasets.longfact import load_prompts
    from factloop.evaluation.datasets.registry import find_dataset, load_part

    dataset, part = _dataset(given)
    if dataset == "longfact":
        return load_prompts(place)
    if find_dataset(dataset).part(part).holds != "prompts":
        raise ConfigError(f"--part {given.part}: this data set has no prompts; use objects, concepts or factbench:PART")
    return cast("Iterator[AnyPrompt]", load_part(dataset, part, place))


def _responses_in_words(report: ResponsesReport) -> list[str]:
    said = f"{report.out}: {plural(report.n_answered, 'response')} by {report.system}"
    said += f" to {plural(report.n_prompts, 'prompt')} from {report.data}"
    lines = [said + (f", {report.n_earlier:,} of them saved earlier" if report.n_earlier else "")]
    if report.n_cut_off:
        limit = report.generated_by.sampling.get("max_tokens", "the server's limit of")
        lines.append(f"  {report.n_cut_off:,} cut off at {limit} tokens (--max-tokens), kept and marked cut_off")
    if report.unanswered:
        reasons = Counter(one.reason.value for one in report.unanswered)
        why = ", ".join(f"{count:,} × {reason}" for reason, count in sorted(reasons.items()))
        lines.append(f"  {len(report.unanswered):,} without a response ({why}); repeat the command to try again")
        lines.append(f"  first failure: {report.unanswered[0].said}")
    return [*lines, _spent(report.usage)]


@command(taking(PromptSettings, "model", "base_url", "temperature", "max_tokens", "prompts", "seed", LIMITS, CACHE))
def prompts(given: Prompts, flags: Flags) -> int:
    from factloop.evaluation.generation.prompts import PromptsRequest, generate_prompts
    from factloop.evaluation.generation.settings import estimate_prompts

    settings = load_settings(PromptSettings, flags)
    topics = tuple(_topics(given))
    asked = PromptsRequest(topics, given.n, given.part, str(given.out))
    _try_outputs(given, settings, run_dir=given.run_dir)
    if given.dry_run:
        _print_estimate(given, estimate_prompts(topics, given.n, given.part, settings))
        return DONE
    refuse_existing((str(given.out),), "its prompts were paid for")

    async def work() -> tuple[Iterable[Record], PromptsReport]:
        with counted("topic", len(asked.topics), quiet=given.quiet) as progress:
            return await generate_prompts(asked, settings, run_dir=given.run_dir, note=progress.one_more)

    rows, report = run_until_stopped(work(), run_dir=given.run_dir, kept=settings.cache)
    if rows:
        write_atomically(given.out, "".join(map(to_json_line, rows)))
    deliver(given, report, show_lines(_prompts_in_words(report)))
    return DONE if rows else left_unscored("nothing was written: no prompts were received; repeat the command")


def _topics(given: Prompts) -> Iterator[str]:
    from factloop.evaluation.generation.prompts import load_topics

    for topic in given.topic:
        if topic == "longfact" or topic.startswith("@"):
            yield from load_topics(topic.removeprefix("@"))
        else:
            yield topic


def _prompts_in_words(report: PromptsReport) -> list[str]:
    kept = sum(topic.n_kept for topic in report.topics)
    lines = [f"{report.out}: {plural(kept, 'prompt')} about {report.kind} by {report.generated_by.model}"]
    for topic in report.topics:
        dropped = f"{topic.n_repeated:,} repeated, {topic.n_alike:,} alike, {topic.n_unusable:,} unusable"
        of = "" if topic.n_kept >= topic.n_wanted else f" of {topic.n_wanted:,}"
        said = f"  {topic.topic}: {topic.n_kept:,}{of} in {plural(topic.n_rounds, 'round')}; dropped {dropped}"
        lines.append(said + (f"; {plural(len(topic.failures), 'failed round')}" if topic.failures else ""))
        lines += [f"    first failure: {topic.failures[0]}"] if topic.failures else []
    if any(topic.failures for topic in report.topics):
        lines.append("  to repeat only the failed rounds, run the same command with another --out")
    return [*lines, _spent(report.usage)]


def _try_outputs(given: Generate, settings: RunSettings, *inputs: str | Path, run_dir: Path | None = None) -> None:
    if str(given.out) == STANDARD_OUTPUT:
        raise ConfigError("--out must be a file, because rows are saved as soon as they arrive")
    try_outputs((str(given.out), given.json_), map(str, inputs), settings=settings, run_dir=run_dir)
    if given.out.exists() and not given.out.is_file():
        raise ConfigError(f"{given.out} is not a regular file; use another path")


def _spent(usage: Usage) -> str:
    return f"  {calls(usage)}; {cost(usage)}"


def _print_estimate(given: Generate, most: GenerationEstimate) -> None:
    completion = most.most_completion_tokens
    replies = "as many in replies as the server allows" if completion is None else f"{completion:,} in replies"
    lines = (
        "Nothing was spent. Upper bound, without retries:",
        f"  at most {plural(most.most_calls, 'model call')}",
        f"  at most about {most.most_prompt_tokens:,} tokens in prompts, and {replies}",
        f"  {_most_usd(most)}",
    )
    deliver(given, most, show_lines(lines))


def _most_usd(most: GenerationEstimate) -> str:
    if most.most_usd is not None:
        return f"at most {most.most_usd:.4f} USD"
    unbounded = most.most_completion_tokens is None
    return "no upper bound on the price without --max-tokens" if unbounded else price(None)
