"""`factloop generate`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from factloop.cli import flags
from factloop.cli.setting_flags import settings_given, with_settings
from factloop.core.extras import require
from factloop.evaluation.generation.settings import PromptSettings, ResponseSettings
from factloop.evaluation.mixedqa.building.settings import PER_SOURCE, BuildSettings
from factloop.setup.marks import CACHE, LIMITS


class Part(StrEnum):
    """The part of LongFact: what its prompts ask about."""

    OBJECTS = "objects"
    CONCEPTS = "concepts"


@with_settings(ResponseSettings, "model", "base_url", "temperature", "max_tokens", "seed", LIMITS, CACHE)
def longfact(
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Rows are appended as they come; the same command goes on in this file."),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="LongFact, or any file with a prompt in each row; - for standard input "
            "(default: what factloop data get longfact got).",
        ),
    ] = None,
    part: Annotated[Part, typer.Option(help="Part of LongFact to ask.")] = Part.OBJECTS,
    n: Annotated[int, typer.Option("--n", min=1, help="Prompts drawn; all, if there are fewer.")] = 250,
    postamble: Annotated[
        bool,
        typer.Option("--postamble/--no-postamble", help="Ask for as much detail as possible, as the paper does."),
    ] = True,
    postamble_text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TEXT",
            help="A request of your own after each prompt, and its name; repeatable: each prompt is asked with each, "
            "and in tables the model is a system for each.",
        ),
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the model in tables (default: its own).")
    ] = None,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a prompt has no response.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Ask a model LongFact's prompts, for factloop eval."""
    from factloop.cli.generate import ResponsesAsk, run_generate_longfact

    texts = tuple(postamble_text or ())
    ask = ResponsesAsk(
        out, data, part.value, n, postamble, texts, system, json, dry_run=dry_run, strict=strict, quiet=quiet
    )
    raise typer.Exit(run_generate_longfact(ask, settings_given(ResponseSettings, settings)))


@with_settings(BuildSettings, "base_url", "temperature", "max_tokens", "prompts", "seed", LIMITS, CACHE)
def mixedqa(
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new file for the questions, as JSON Lines.")],
    source: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=FILE",
            help="NaturalQuestions, WebQuestions, TriviaQA, HotpotQA or PopQA, and its file as published; repeatable.",
        ),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM=MODEL",
            help="A system, and the model that answers for it; repeatable. Without any, questions are drawn unasked.",
        ),
    ] = None,
    system_url: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM=URL", help="Address of that model's server, if not --base-url; repeatable."),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Questions of each source.")] = PER_SOURCE,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    run_dir: flags.RunDir = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a source gives fewer.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Build a data set like MixedQA: open-ended questions that every system answers."""
    require("trust", "factloop generate mixedqa")
    from factloop.cli.build_mixedqa import BuildAsk, run_build_mixedqa

    systems = tuple(system or ()), tuple(system_url or ())
    ask = BuildAsk(out, tuple(source), *systems, n, json, run_dir, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_build_mixedqa(ask, settings_given(BuildSettings, settings)))


@with_settings(PromptSettings, "model", "base_url", "temperature", "max_tokens", "prompts", "seed", LIMITS, CACHE)
def prompts(
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new file for the prompts, as generate longfact reads.")],
    topic: Annotated[
        list[str] | None, typer.Option(help="A topic, for example mycology; repeatable.", show_default=False)
    ] = None,
    topics: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Topics, one a line; or longfact, for the 38 of the paper."),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, max=1000, help="Prompts on each topic.")] = 30,
    kind: Annotated[Part, typer.Option(help="Ask about single things, or about ideas.")] = Part.OBJECTS,
    dry_run: flags.DryRun = False,
    json: flags.Json = None,
    run_dir: flags.RunDir = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if a topic has fewer prompts.", rich_help_panel=flags.OUTPUT),
    ] = False,
    quiet: flags.Quiet = False,
    **settings: Any,
) -> None:
    """Let a model write prompts like LongFact's on a topic, all different."""
    from factloop.cli.generate import PromptsAsk, run_generate_prompts
    from factloop.evaluation.generation.topics import load_topics

    wanted = (*(topic or ()), *(() if topics is None else load_topics(topics)))
    ask = PromptsAsk(out, wanted, kind.value, n, json, run_dir, dry_run=dry_run, strict=strict, quiet=quiet)
    raise typer.Exit(run_generate_prompts(ask, settings_given(PromptSettings, settings)))
