"""`factloop prompts list | show | new | diff | lint`: shows, copies, compares and lints prompts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from factloop.cli.exits import BELOW_THRESHOLD, DONE
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.core.records import Record
from factloop.entrance.settings_sources import load_settings
from factloop.prompts.difference import PromptDifference, PromptSide, compare_sides, in_words
from factloop.prompts.lint import LintReport, lint_paths
from factloop.prompts.registry import PACKAGED, Prompt, PromptRegistry
from factloop.prompts.variant import find_source, start_variant
from factloop.reports.figures import plural
from factloop.reports.visible import visible
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


class StartedVariant(Record):
    """The variant that `prompts new` wrote."""

    variant: str
    folder: Path
    """The folder to give to --prompts."""
    prompt: ListedPrompt
    from_sha256: str
    """Hash of the file that it was copied from."""


def run_list(folder: Path | None, json: str | None) -> int:
    """Lists the prompts; returns the exit code. Raises ConfigError for a folder with a prompt that a run refuses."""
    registry, folder = _registry(folder, json)
    listing = PromptListing(folder=folder, prompts=tuple(_listed(registry[name]) for name in registry.names))
    return _put(listing, json, lambda: _print(_listing_lines(listing)))


def run_show(name: str, folder: Path | None, json: str | None, *, rendered: bool) -> int:
    """Shows one prompt, its file or what becomes of it; returns the exit code. Raises ConfigError."""
    registry, _ = _registry(folder, json)
    if name not in registry.names:
        near = get_close_matches(name[:100], registry.names, n=1)
        hint = f"is it {near[0]}?" if near else "factloop prompts list shows the names"
        raise ConfigError(f"no prompt is named {name!r}; {hint}")
    prompt = registry[name]
    sample = prompt.render(**{variable: variable for variable in prompt.variables})
    system, user = (sample.system, sample.user) if rendered else (prompt.system, prompt.user)
    shown = ShownPrompt(**dict(_listed(prompt)), rendered=rendered, system=system, user=user)
    text = f"# system\n{system}\n# user\n{user}\n" if rendered else prompt.path.read_text(encoding="utf-8-sig")
    return _put(shown, json, lambda: sys.stdout.write(visible(text)))


def run_new(variant: str, source: str, to: Path, json: str | None) -> int:
    """Writes a variant to be edited; returns the exit code. Raises ConfigError, and overwrites nothing."""
    try_outputs((json,), ())
    original = find_source(source)
    prompt = start_variant(variant, original, to)
    started = StartedVariant(variant=variant, folder=to / variant, prompt=_listed(prompt), from_sha256=original.sha256)
    said = f"{prompt.path}: a copy of {original.name}, to be edited. Then: --prompts {started.folder}"
    return _put(started, json, lambda: _print([said]))


def run_diff(a: str, b: str, json: str | None) -> int:
    """Compares prompts; returns the exit code, which is 0 whether or not they differ. Raises ConfigError."""
    try_outputs((json,), (a, b))
    difference = compare_sides(PromptSide.of(a), PromptSide.of(b))
    return _put(difference, json, lambda: _print(line for pair in difference.pairs for line in _pair_lines(pair)))


def run_lint(paths: Sequence[Path], json: str | None) -> int:
    """Lints prompts; returns the exit code, 1 where something was found. Raises ConfigError for what is not there."""
    looked_at = paths or [_configured() or PACKAGED]
    try_outputs((json,), map(str, looked_at))
    report = lint_paths(looked_at)
    _put(report, json, lambda: _print(_lint_lines(report)))
    return BELOW_THRESHOLD if report.findings else DONE


def _configured() -> Path | None:
    return load_settings(RunSettings, {}, os.environ, Path.cwd()).prompts


def _registry(folder: Path | None, json: str | None) -> tuple[PromptRegistry, Path | None]:
    """The prompts and the user's folder of them, once it is certain that the output does not fall into it."""
    chosen = folder or _configured()
    try_outputs((json,), () if chosen is None else (str(chosen),))
    return PromptRegistry.load(chosen), chosen


def _put(record: Record, json: str | None, speak: Callable[[], object]) -> int:
    if json is not None:
        write_output(json, to_json(record))
    if json != STANDARD_OUTPUT:
        say(speak)
    return DONE


def _print(lines: Iterable[str]) -> None:
    console = Terminal()
    for line in lines:
        console.print(visible(line), soft_wrap=True)


def _listed(prompt: Prompt) -> ListedPrompt:
    return ListedPrompt(
        name=prompt.name,
        version=prompt.version,
        variables=prompt.variables,
        output=prompt.output,
        source=prompt.source,
        sha256=prompt.sha256,
        path=prompt.own_path,
    )


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


def _pair_lines(pair: PromptDifference) -> list[str]:
    changed = [f"  {one.field}: {_value(one.a)} -> {_value(one.b)}" for one in pair.fields]
    title = pair.a.name if pair.a.name == pair.b.name else f"{pair.a.name} and {pair.b.name}"
    return [title, *(f"  {said}" for said in in_words(pair)), *changed, *pair.text, ""]


def _value(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _lint_lines(report: LintReport) -> list[str]:
    found = [f"{one.path}:{one.line}: {one.severity} {one.rule}: {one.message}" for one in report.findings]
    counts = f"{plural(report.n_errors, 'error')} (a run refuses the file), {plural(report.n_warnings, 'warning')}"
    return [*found, f"{plural(report.n_files, 'prompt file')}: {counts if found else 'nothing found'}."]
