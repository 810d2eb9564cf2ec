"""Finds what would stop a run that uses a prompt file, and what would quietly hurt it, each by file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from factloop.core.errors import ConfigError
from factloop.core.records import Count, Record
from factloop.prompts.layout import FENCE, FrontMatterError, Layout, decode_prompt, lay_out, read_fields
from factloop.prompts.lint_fields import Lines, lint_fields
from factloop.prompts.lint_rules import LineFinding, Rule, Severity, shown
from factloop.prompts.lint_text import lint_characters, lint_text
from factloop.prompts.registry import Prompt, packaged_prompts, prompt_files


class LintFinding(Record):
    """A fault of a prompt file."""

    path: Path
    line: Annotated[int, Field(ge=1)]
    severity: Severity
    rule: Rule
    message: str


class LintReport(Record):
    """The findings of a lint. A run refuses the files exactly where one finding is an `error`."""

    n_files: Count
    n_errors: Count
    n_warnings: Count
    findings: tuple[LintFinding, ...]
    """Findings by file, then by line."""


def lint_paths(paths: Sequence[Path]) -> LintReport:
    """Lints files, and folders as `--prompts` reads them. Raises ConfigError for a path that is not there."""
    findings: list[LintFinding] = []
    n_files = 0
    for path in dict.fromkeys(paths):
        files = prompt_files(path) if path.is_dir() else [path]
        n_files += len(files)
        found = [*_lint_together(files), *(_not_read(path) if path.is_dir() else ())]
        findings += [
            LintFinding(path=file, line=one.line, severity=one.rule.severity, rule=one.rule, message=one.message)
            for file, one in sorted(set(found))
        ]
    n_errors = sum(one.severity == "error" for one in findings)
    n_warnings = len(findings) - n_errors
    return LintReport(n_files=n_files, n_errors=n_errors, n_warnings=n_warnings, findings=tuple(findings))


def _lint_together(files: Sequence[Path]) -> Iterator[tuple[Path, LineFinding]]:
    """Lints files that a run would read together, in which each name stands once."""
    first_of: dict[str, Path] = {}
    for file in files:
        try:
            raw = file.read_bytes()
        except IsADirectoryError:
            yield file, LineFinding(1, Rule.LAYOUT, "a folder is called like a prompt file (.md)")
            continue
        except OSError as error:
            raise ConfigError(f"{file}: cannot be read ({error.strerror})") from error
        found, name, line = lint_prompt(raw, packaged_prompts())
        yield from ((file, one) for one in found)
        if name is not None and first_of.setdefault(name, file) != file:
            yield (
                file,
                LineFinding(
                    line,
                    Rule.TWICE,
                    f"{shown(name)} is also the name of {first_of[name]}; each variant has a folder of its own",
                ),
            )


def lint_prompt(raw: bytes, packaged: Mapping[str, Prompt]) -> tuple[list[LineFinding], str | None, int]:
    """The findings on one file, unordered; the name that it gives itself, and the line of that name."""
    try:
        text = decode_prompt(raw)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return (
            [LineFinding(line, Rule.ENCODING, f"byte {raw[error.start]:#04x} is not UTF-8; convert the file")],
            None,
            1,
        )
    found = list(lint_characters(text))
    parts = lay_out(text)
    if parts is None:
        return [*found, _layout_fault(text)], None, 1
    try:
        fields = read_fields(parts.front_matter)
    except FrontMatterError as error:
        return [*found, LineFinding(error.line + 2, Rule.YAML, f"not valid YAML: {error}")], None, 1
    if not isinstance(fields, dict):
        return [*found, LineFinding(2, Rule.FIELDS, "the front matter is not a list of fields and values")], None, 1
    return _lint_parts(found, parts, fields, packaged)


def _lint_parts(
    found: list[LineFinding], parts: Layout, fields: Mapping[object, object], packaged: Mapping[str, Prompt]
) -> tuple[list[LineFinding], str | None, int]:
    lines = Lines.of(parts.front_matter)
    name = fields.get("name")
    original = packaged.get(name) if isinstance(name, str) else None
    found += lint_fields(fields, lines, original, packaged)
    found += lint_text(parts, fields, lines, original)
    return found, name if isinstance(name, str) else None, lines["name"]


def _layout_fault(text: str) -> LineFinding:
    """The first of the marks that is missing, in their order."""
    lines = text.split("\n")
    if not text.startswith(FENCE):
        return LineFinding(1, Rule.LAYOUT, "the first line is not '---', which opens the front matter")
    try:
        end = lines.index("---", 1)
    except ValueError:
        return LineFinding(1, Rule.LAYOUT, "no second '---' line closes the front matter")
    after = next((number for number, line in enumerate(lines[end + 1 :], end + 1) if line), end)
    if lines[after] != "# system":
        return LineFinding(after + 1, Rule.LAYOUT, "after the front matter comes the line '# system'")
    return LineFinding(after + 1, Rule.LAYOUT, "no line '# user' follows the text of '# system'")


def _not_read(folder: Path) -> Iterator[tuple[Path, LineFinding]]:
    """Files laid out as prompts that no run would read, by their names."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".md" or not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                starts = file.read(64).removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").startswith(FENCE.encode())
        except OSError:
            continue  # nothing that a run would read
        if starts:
            yield path, LineFinding(1, Rule.NOT_READ, "only files whose name ends in .md are read")
