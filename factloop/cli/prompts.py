"""`factloop prompts list | show | new | diff | lint`: shows, copies, compares and lints prompts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches, unified_diff
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from factloop.cli.console import BELOW_THRESHOLD, DONE
from factloop.cli.options import ARGUMENT, Arguments, AsJson, command
from factloop.cli.outputs import deliver, say, show_lines, try_outputs
from factloop.core.errors import ConfigError
from factloop.core.records import Record
from factloop.entrance.settings_sources import load_settings
from factloop.prompts.lint import LintReport, Replies, lint_paths
from factloop.prompts.registry import PACKAGED, Prompt, PromptRegistry, packaged_prompts, read_prompt
from factloop.prompts.variant import find_source, start_variant
from factloop.reports.figures import plural
from factloop.reports.visible import visible
from factloop.setup.marks import Mark
from factloop.setup.settings import RunSettings

DIGITS = 12
"""Digits of a hash on the terminal."""


class ListedPrompt(Record):
    """One prompt, as a run would use it."""

    name: str
    version: int
    variables: tuple[str, ...]
    output: str | None
    """Title of the schema of the reply; None for parts of other prompts."""
    source: str
    sha256: str
    path: Path | None
    """The file that replaces the packaged prompt; None if none does."""


class PromptListing(Record):
    """All prompts by name."""

    folder: Path | None
    """The folder of the prompts that replace packaged ones."""
    prompts: tuple[ListedPrompt, ...]


class ShownPrompt(ListedPrompt):
    """A prompt with its text."""

    rendered: bool
    """Whether each variable's name, delimited as data are, stands in place of its placeholder."""
    system: str
    user: str
    reply: Mapping[str, Any] | None
    """The JSON Schema of the reply, with what its fields mean."""


class StartedVariant(Record):
    """The variant that `prompts new` wrote."""

    variant: str
    folder: Path
    """The folder to give to --prompts."""
    prompt: ListedPrompt
    from_sha256: str
    """Hash of the file that it was copied from."""


class List(AsJson):
    """Arguments of `prompts list`."""

    prompts: Annotated[Path | None, Mark(metavar="FOLDER")] = None
    """Folder of prompts that replace packaged ones."""


class Show(List):
    """Arguments of `prompts show`."""

    name: Annotated[str, Mark(ARGUMENT, "NAME")]
    """Name as shown by factloop prompts list."""
    rendered: bool = False
    """Show the prompt as it is sent, with variable names in place of data."""


class New(AsJson):
    """Arguments of `prompts new`."""

    name: Annotated[str, Mark(ARGUMENT, "NAME")]
    """Name of the variant and its folder."""
    from_: Annotated[str, Mark(metavar="SOURCE")]
    """Name of a packaged prompt, or the file of a variant."""
    out: Annotated[Path, Mark(metavar="FOLDER")]
    """Folder of variants; the new one is written to FOLDER/NAME."""


class Diff(Arguments):
    """Arguments of `prompts diff`."""

    a: Annotated[str, Mark(ARGUMENT, "A")]
    """Name of a packaged prompt, prompt file, or folder of prompts."""
    b: Annotated[str, Mark(ARGUMENT, "B")]
    """Name of a packaged prompt, prompt file, or folder of prompts."""


class Lint(AsJson):
    """Arguments of `prompts lint`."""

    paths: Annotated[tuple[Path, ...], Mark(ARGUMENT, "[FOLDER|FILE]...")] = ()
    """Prompts to check. Default: the folder from the settings, else the packaged ones."""


@command()
def list_(given: List) -> int:
    """Lists the prompts; returns the exit code. Raises ConfigError for a folder with a prompt that a run refuses."""
    registry, folder = _registry(given)
    listing = PromptListing(folder=folder, prompts=tuple(_listed(registry[name]) for name in registry.names))
    deliver(given, listing, show_lines(_listing_lines(listing)))
    return DONE


@command()
def show(given: Show) -> int:
    """Shows one prompt, its file or what becomes of it; returns the exit code. Raises ConfigError."""
    registry, _ = _registry(given)
    if given.name not in registry.names:
        near = get_close_matches(given.name[:100], registry.names, n=1)
        hint = f"did you mean {near[0]}?" if near else "factloop prompts list shows the names"
        raise ConfigError(f"no prompt is named {given.name!r}; {hint}")
    prompt = registry[given.name]
    sample = prompt.render(**{variable: variable for variable in prompt.variables})
    system, user = (sample.system, sample.user) if given.rendered else (prompt.system, prompt.user)
    (reply, *_) = _replies().get(prompt.output or "", (None,))
    schema = None if reply is None else reply.model_json_schema()
    shown = ShownPrompt(**dict(_listed(prompt)), rendered=given.rendered, system=system, user=user, reply=schema)
    rendered = f"# system\n{system}\n# user\n{user}\n"
    text = rendered if given.rendered else prompt.path.read_text(encoding="utf-8-sig")
    if reply is not None:
        text += "\n".join(("", f"Reply: {prompt.output}, a JSON object", *_field_lines(reply), ""))
    deliver(given, shown, lambda _: sys.stdout.write(visible(text)))
    return DONE


def _replies() -> Replies:
    """The schemas of all replies; imported late, as most commands need none."""
    from factloop.agents.longfact.writer import LongFactPrompts
    from factloop.agents.safe.schemas import REPLIES
    from factloop.agents.trustscore.schemas import ClosedBookAnswer, Entailment, McqAnswer, Substitutes
    from factloop.correction.rewriters import RewrittenSentence
    from factloop.tools.judges.served import Attribution

    others = (LongFactPrompts, ClosedBookAnswer, Entailment, Substitutes, RewrittenSentence, Attribution)
    return {**REPLIES, **{one.__name__: (one,) for one in others}, "McqAnswer": (McqAnswer,)}


_KINDS: Mapping[Any, str] = {str: "text", int: "number", bool: "true or false"}


def _field_lines(reply: type[BaseModel], indent: str = "  ") -> Iterator[str]:
    """A line for each field: its name, what it may be, and what it means; those of a list's entries below it."""
    for name, field in reply.model_fields.items():
        kind: Any = field.annotation
        many = ""
        if get_origin(kind) is list:
            (kind,), many = get_args(kind), "list of "
        choices = ", ".join(map(str, get_args(kind)))
        nested = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
        said = choices or (
            "objects" if nested else {str: "text", int: "number", bool: "true or false"}.get(kind, "any")
        )
        yield f"{indent}{name} ({many}{said}): {field.description or '-'}"
        if nested is not None:
            yield from _field_lines(nested, indent + "  ")


@command()
def new(given: New) -> int:
    """Writes a variant to be edited; returns the exit code. Raises ConfigError, and overwrites nothing."""
    try_outputs((given.json_,), ())
    original = find_source(given.from_)
    prompt = start_variant(given.name, original, given.out)
    started = StartedVariant(
        variant=given.name,
        folder=given.out / given.name,
        prompt=_listed(prompt),
        from_sha256=original.sha256,
    )
    said = f"{prompt.path}: a copy of {original.name}, to be edited. Then: --prompts {started.folder}"
    deliver(given, started, show_lines([said]))
    return DONE


@command()
def diff(given: Diff) -> int:
    """Compares prompts as `diff` compares files; returns the exit code, 0 whether or not they differ.

    Two prompts; a prompt with that of its name in a folder; or all that either of two folders replaces. In a folder a
    prompt that is not replaced is the packaged one, as in a run. Raises ConfigError.
    """
    (own_a, a), (own_b, b) = _side(given.a), _side(given.b)
    alone = [own for own, side in ((own_a, a), (own_b, b)) if len(side) == 1]
    if len(alone) == 2:
        pairs = [(*a.values(), *b.values())]
    else:
        names = sorted(alone[0] if alone else own_a | own_b)
        if strangers := [name for name in names if name not in a or name not in b]:
            raise ConfigError(f"no prompt in the folder is named {strangers[0]!r}; to compare two files, name both")
        pairs = [(a[name], b[name]) for name in names]
    lines = [line for pair in pairs for line in _difference(*pair)]
    say(lambda: sys.stdout.write("".join(f"{visible(line)}\n" for line in lines)))
    return DONE


def _side(word: str) -> tuple[frozenset[str], Mapping[str, Prompt]]:
    """The prompts that the user named, and the names of those that are replaced: one prompt, or those of a folder."""
    path = Path(word)
    if word not in packaged_prompts() and path.is_dir():
        registry = PromptRegistry.load(path)
        return registry.own, {name: registry[name] for name in registry.names}
    if word not in packaged_prompts() and not path.exists():
        raise ConfigError(f"{word}: no packaged prompt has this name, and there is no such file or folder")
    prompt = packaged_prompts().get(word) or read_prompt(path)
    return frozenset({prompt.name}), {prompt.name: prompt}


def _difference(a: Prompt, b: Prompt) -> Iterator[str]:
    if a.sha256 == b.sha256:
        yield f"{a.name}: the two files are identical"
        return
    old, new = (one.path.read_text(encoding="utf-8-sig").splitlines() for one in (a, b))
    of_a, of_b = (f"{one.name}, packaged" if one.own_path is None else str(one.path) for one in (a, b))
    yield from (
        unified_diff(old, new, of_a, of_b, lineterm="")
        if old != new
        else [f"{a.name}: only line endings differ, but a run treats them as two prompts"]
    )


@command()
def lint(given: Lint) -> int:
    """Lints prompts; returns the exit code, 1 where something was found. Raises ConfigError for what is not there."""
    looked_at = given.paths or [load_settings(RunSettings, {}).prompts or PACKAGED]
    try_outputs((given.json_,), map(str, looked_at))
    report = lint_paths(looked_at, _replies())
    deliver(given, report, show_lines(_lint_lines(report)))
    return BELOW_THRESHOLD if report.findings else DONE


def _registry(given: List) -> tuple[PromptRegistry, Path | None]:
    """The prompts and the user's folder of them, once it is certain that the output does not fall into it."""
    chosen = given.prompts or load_settings(RunSettings, {}).prompts
    try_outputs((given.json_,), () if chosen is None else (str(chosen),))
    return PromptRegistry.load(chosen), chosen


def _listed(prompt: Prompt) -> ListedPrompt:
    fields = {name: getattr(prompt, name) for name in ListedPrompt.model_fields}
    return ListedPrompt(**{**fields, "path": prompt.own_path})


def _listing_lines(listing: PromptListing) -> list[str]:
    """Two lines for each prompt, as no table has room for its variables in 80 columns."""
    wide = max(len(one.name) for one in listing.prompts) + 1
    lines = [f"{'Name':{wide}} Version  {'SHA-256':{DIGITS}}  Reply"]
    for one in listing.prompts:
        name = f"{one.name}{'*' if one.path is not None else ''}"
        lines.append(f"{name:{wide}} {one.version:>7}  {one.sha256[:DIGITS]}  {one.output or ''}".rstrip())
        lines.append(f"    {', '.join(one.variables)}")
    own = [f"  *{one.name}: {one.path}" for one in listing.prompts if one.path is not None]
    of = f", {len(own):,} of them (*) from {listing.folder}" if listing.folder is not None else ""
    return [*lines, "", f"{plural(len(listing.prompts), 'prompt')}{of}.", *own]


def _lint_lines(report: LintReport) -> list[str]:
    found = [f"{one.path}:{one.line}: {one.severity} {one.rule}: {one.message}" for one in report.findings]
    counts = f"{plural(report.n_errors, 'error')} (a run refuses the file), {plural(report.n_warnings, 'warning')}"
    return [*found, f"{plural(report.n_files, 'prompt file')}: {counts if found else 'nothing found'}."]
