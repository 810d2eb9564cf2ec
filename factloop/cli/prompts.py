"""`factloop prompts` lists (`list`), shows (`show`), copies (`new`) and checks (`lint`) prompts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from factloop.cli.console import BELOW_THRESHOLD, DONE
from factloop.cli.options import ARGUMENT, Arguments, AsJson, command
from factloop.cli.outputs import Terminal, deliver, say, show_lines, try_outputs
from factloop.core.errors import ConfigError
from factloop.entrance.settings_sources import load_settings
from factloop.prompts.lint import LintReport, Replies, lint_paths
from factloop.prompts.registry import PACKAGED, Prompt, PromptRegistry
from factloop.prompts.variant import find_source, start_variant
from factloop.reports.figures import plural
from factloop.reports.visible import visible
from factloop.setup.marks import Mark
from factloop.setup.settings import RunSettings, is_it

DIGITS = 12  # number of digits of a hash to print


class List(Arguments):
    prompts: Annotated[Path | None, Mark(metavar="FOLDER")] = None
    """Folder of prompts that replace bundled prompts with the same names."""


class Show(List):
    name: Annotated[str, Mark(ARGUMENT, "NAME")]
    """Name of the prompt, as shown by factloop prompts list."""
    rendered: bool = False
    """Show the prompt as models receive it, but with the names of variables instead of data."""


class New(Arguments):
    name: Annotated[str, Mark(ARGUMENT, "NAME")]
    """Name of the variant and of its folder."""
    from_: Annotated[str, Mark(metavar="SOURCE")]
    """Name of a bundled prompt, or path of a variant's file."""
    out: Annotated[Path, Mark(metavar="FOLDER")]
    """Folder for variants. The new variant is written to FOLDER/NAME."""


class Lint(AsJson):
    paths: Annotated[tuple[Path, ...], Mark(ARGUMENT, "[FOLDER|FILE]...")] = ()
    """Prompts to check. Default: the folder in the prompts setting or, if it is not set, the bundled prompts."""


@command()
def list_(given: List) -> int:
    folder = _folder(given)
    registry = PromptRegistry.load(folder)
    say(lambda: show_lines(_listing_lines([registry[name] for name in registry.names], folder))(Terminal()))
    return DONE


@command()
def show(given: Show) -> int:
    registry = PromptRegistry.load(_folder(given))
    if given.name not in registry.names:
        hint = is_it(given.name, registry.names) or "; run `factloop prompts list` to see all names"
        raise ConfigError(f"no prompt is named {given.name!r}{hint}")
    prompt = registry[given.name]
    sample = prompt.render(**{variable: variable for variable in prompt.variables})
    rendered = f"# system\n{sample.system}\n# user\n{sample.user}\n"
    text = rendered if given.rendered else prompt.path.read_text(encoding="utf-8-sig")
    (reply, *_) = _replies().get(prompt.output or "", (None,))
    if reply is not None:
        text += "\n".join(("", f"Reply: {prompt.output}, a JSON object", *_field_lines(reply), ""))
    say(lambda: sys.stdout.write(visible(text)))
    return DONE


def _replies() -> Replies:
    from factloop.agents.longfact.writer import LongFactPrompts
    from factloop.agents.safe.schemas import REPLIES
    from factloop.agents.trustscore.schemas import ClosedBookAnswer, Entailment, McqAnswer, Substitutes
    from factloop.correction.rewriters import RewrittenSentence
    from factloop.tools.judges.served import Attribution, Eligibility

    others = (LongFactPrompts, ClosedBookAnswer, Entailment, Substitutes, RewrittenSentence, Attribution, Eligibility)
    return {**REPLIES, **{one.__name__: (one,) for one in others}, "McqAnswer": (McqAnswer,)}


_KINDS: Mapping[Any, str] = {str: "text", int: "number", bool: "true or false"}


def _field_lines(reply: type[BaseModel], indent: str = "  ") -> Iterator[str]:
    for name, field in reply.model_fields.items():
        kind: Any = field.annotation
        many = ""
        if get_origin(kind) is list:
            (kind,), many = get_args(kind), "list of "
        choices = ", ".join(map(str, get_args(kind)))
        nested = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
        said = choices or ("objects" if nested else _KINDS.get(kind, "any"))
        yield f"{indent}{name} ({many}{said}): {field.description or '-'}"
        if nested is not None:
            yield from _field_lines(nested, indent + "  ")


@command()
def new(given: New) -> int:
    """Raises ConfigError if files would be overwritten."""
    original = find_source(given.from_)
    prompt = start_variant(given.name, original, given.out)
    said = f"{prompt.path} was copied from {original.name}. Edit the file, then use --prompts {given.out / given.name}"
    say(lambda: show_lines([said])(Terminal()))
    return DONE


@command()
def lint(given: Lint) -> int:
    """Returns 1 if there are findings."""
    paths = given.paths or [load_settings(RunSettings, {}).prompts or PACKAGED]
    looked_at = [one for path in paths for one in _variants(path)]
    try_outputs((given.json_,), map(str, looked_at))
    report = lint_paths(looked_at, _replies())
    deliver(given, report, show_lines(_lint_lines(report)))
    return BELOW_THRESHOLD if report.findings else DONE


def _variants(path: Path) -> list[Path]:
    folders = sorted({file.parents[1] for file in path.rglob("*.md")}) if path.is_dir() else []
    return folders if len(folders) > 1 and path not in folders else [path]


def _folder(given: List) -> Path | None:
    return given.prompts or load_settings(RunSettings, {}).prompts


def _listing_lines(prompts: Sequence[Prompt], folder: Path | None) -> list[str]:
    wide = max(len(one.name) for one in prompts) + 1
    lines = [f"{'Name':{wide}} Version  {'SHA-256':{DIGITS}}  Reply"]
    for one in prompts:
        name = f"{one.name}{'*' if one.own_path is not None else ''}"
        lines.append(f"{name:{wide}} {one.version:>7}  {one.sha256[:DIGITS]}  {one.output or ''}".rstrip())
        lines.append(f"    {', '.join(one.variables)}")
    own = [f"  *{one.name}: {one.own_path}" for one in prompts if one.own_path is not None]
    of = f", {len(own):,} of them (*) from {folder}" if folder is not None else ""
    return [*lines, "", f"{plural(len(prompts), 'prompt')}{of}.", *own]


def _lint_lines(report: LintReport) -> list[str]:
    found = [f"{one.path}:{one.line}: {one.severity} {one.rule}: {one.message}" for one in report.findings]
    warnings = plural(report.n_warnings, "warning")
    counts = f"{plural(report.n_errors, 'error')} (runs reject files with errors), {warnings}"
    if not report.n_errors:
        counts = f"{warnings}; runs accept {'this file' if report.n_files == 1 else 'these files'}"
    return [*found, f"{plural(report.n_files, 'prompt file')}: {counts if found else 'nothing found'}."]
