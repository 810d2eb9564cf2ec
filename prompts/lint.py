"""Finds errors in prompt files that would stop a run, and likely mistakes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from json import JSONDecoder
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import BaseModel, Field, ValidationError

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import read_given
from factloop.core.records import Count, Record
from factloop.prompts.layout import (
    FENCE,
    FIELDS,
    PLACEHOLDER,
    FrontMatterError,
    Layout,
    decode_prompt,
    lay_out,
    read_fields,
)
from factloop.prompts.registry import LARGEST, Prompt, packaged_prompts, prompt_files

Severity = Literal["error", "warning"]


class Rule(StrEnum):
    """The rule that a file breaks. The first group of rules stops a run before it starts; the rest only warn."""

    ENCODING = "encoding"
    LAYOUT = "layout"
    YAML = "yaml"
    FIELDS = "fields"
    NAME = "name"
    VARIABLES = "variables"
    OUTPUT = "output"
    TWICE = "twice"
    """More than one file replaces the same prompt."""

    VERSION = "version"
    """The text has changed, but the version has not."""
    DATA_AS_INSTRUCTION = "data-as-instruction"
    """Untrusted text is outside the user section, has extra tags around it, or is not declared as data."""
    BRACES = "braces"
    """Some text looks like a placeholder but is sent unchanged."""
    HIDDEN = "hidden"
    """The text contains invisible characters."""
    REPLY = "reply"
    """An example reply is missing or does not match the schema, or the prompt forbids JSON."""
    TAG = "tag"
    """A tag does not belong to any variable."""
    EMPTY = "empty"
    TOO_LONG = "too-long"

    @property
    def severity(self) -> Severity:
        return "error" if self in _STOPS else "warning"


_STOPS = frozenset(
    {Rule.ENCODING, Rule.LAYOUT, Rule.YAML, Rule.FIELDS, Rule.NAME, Rule.VARIABLES, Rule.OUTPUT, Rule.TWICE}
)


class LineFinding(NamedTuple):
    """A finding in a file. Findings are sorted by line. Lines are numbered from 1."""

    line: int
    rule: Rule
    message: str


def shown(text: object, longest: int = 40) -> str:
    """Shortens and quotes text from a user's file for use in a one-line message."""
    whole = str(text)
    return repr(whole if len(whole) <= longest else f"{whole[:longest]}...")


class LintFinding(Record):
    path: Path
    line: Annotated[int, Field(ge=1)]
    severity: Severity
    rule: Rule
    message: str


class LintReport(Record):
    """The findings of a lint run. A run rejects the files if and only if at least one finding is an `error`."""

    n_files: Count
    n_errors: Count
    n_warnings: Count
    findings: tuple[LintFinding, ...]


Lines = Mapping[str, int]
"""Maps each field to its line in the file, starting at 1. Missing fields have line 1."""

Replies = Mapping[str, Sequence[type[BaseModel]]]
"""Maps the schema title in a prompt's `output` to the schemas that its replies may have."""


def lint_paths(paths: Sequence[Path], replies: Replies = MappingProxyType({})) -> LintReport:
    """Lints files, and the kinds of folders that `--prompts` accepts. Raises ConfigError if a path does not exist."""
    findings: list[LintFinding] = []
    n_files = 0
    for path in dict.fromkeys(paths):
        files = prompt_files(path) if path.is_dir() else [path]
        n_files += len(files)
        findings += [
            LintFinding(path=file, line=one.line, severity=one.rule.severity, rule=one.rule, message=one.message)
            for file, one in sorted(set(_lint_together(files, replies)))
        ]
    n_errors = sum(one.severity == "error" for one in findings)
    return LintReport(n_files=n_files, n_errors=n_errors, n_warnings=len(findings) - n_errors, findings=tuple(findings))


def _lint_together(files: Sequence[Path], replies: Replies) -> Iterator[tuple[Path, LineFinding]]:
    """Lints files that a run would read together. A name may occur in only one of them."""
    first_of: dict[str, Path] = {}
    for file in files:
        if file.is_dir():
            yield file, LineFinding(1, Rule.LAYOUT, "this is a folder, although its name ends in .md; rename it")
            continue
        try:
            raw = read_given(file, LARGEST)
        except DataError as error:
            raise ConfigError(f"cannot read {file}: {error.reason}") from error
        found, name, line = lint_prompt(raw, replies)
        yield from ((file, one) for one in found)
        if name is not None and first_of.setdefault(name, file) != file:
            yield (
                file,
                LineFinding(
                    line,
                    Rule.TWICE,
                    f"the name {shown(name)} is also used in {first_of[name]}; each variant needs its own folder",
                ),
            )


def lint_prompt(raw: bytes, replies: Replies) -> tuple[list[LineFinding], str | None, int]:
    """Returns a file's findings in any order, the name in its front matter, and the line of that name."""
    try:
        text = decode_prompt(raw)
    except UnicodeDecodeError as error:
        said = f"byte {raw[error.start]:#04x} is not UTF-8; convert the file"
        return [LineFinding(raw.count(b"\n", 0, error.start) + 1, Rule.ENCODING, said)], None, 1
    found = list(lint_characters(text))
    parts = lay_out(text)
    if parts is None:
        return [*found, _layout_fault(text)], None, 1
    try:
        fields = read_fields(parts.front_matter)
    except FrontMatterError as error:
        return [*found, LineFinding(error.line + 2, Rule.YAML, f"not valid YAML: {error}")], None, 1
    if not isinstance(fields, dict):
        return [*found, LineFinding(2, Rule.FIELDS, "the front matter must map fields to values")], None, 1
    lines, name, schemas = (
        field_lines(parts.front_matter),
        fields.get("name"),
        replies.get(str(fields.get("output")), ()),
    )
    original = packaged_prompts().get(name) if isinstance(name, str) else None
    found += lint_fields(fields, lines, original)
    found += lint_text(parts, fields, lines, original)
    found += _lint_replies(parts, schemas, original) if schemas else ()
    return found, name if isinstance(name, str) else None, lines["name"]


def _layout_fault(text: str) -> LineFinding:
    lines = text.split("\n")
    if not text.startswith(FENCE):
        return LineFinding(1, Rule.LAYOUT, "the first line must be '---', which opens the front matter")
    try:
        end = lines.index("---", 1)
    except ValueError:
        return LineFinding(1, Rule.LAYOUT, "the front matter is not closed; add a second '---' line")
    after = next((number for number, line in enumerate(lines[end + 1 :], end + 1) if line), end)
    if lines[after] != "# system":
        return LineFinding(after + 1, Rule.LAYOUT, "the line after the front matter must be '# system'")
    return LineFinding(after + 1, Rule.LAYOUT, "the '# system' section must be followed by the line '# user'")


def field_lines(front_matter: str) -> Lines:
    """Maps each field to its line (the last one if the field is repeated). Expects valid YAML."""
    root = yaml.compose(front_matter, Loader=yaml.SafeLoader)
    keys = [key for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    return defaultdict(lambda: 1, {str(key.value): key.start_mark.line + 2 for key in keys})


def lint_fields(fields: Mapping[object, object], lines: Lines, original: Prompt | None) -> Iterator[LineFinding]:
    """Checks the fields, and compares them with the packaged prompt of the same name."""
    for missing in (name for name in FIELDS if name not in fields):
        yield LineFinding(1, Rule.FIELDS, f"the front matter needs the field {missing!r}")
    for stranger in (name for name in fields if name not in FIELDS):
        yield LineFinding(lines[str(stranger)], Rule.FIELDS, f"unknown field {shown(stranger)}")
    for name in (name for name in ("name", "source") if name in fields):
        if not isinstance(fields[name], str) or not fields[name]:
            yield LineFinding(lines[name], Rule.FIELDS, f"{name!r} must be nonempty text")
    version = fields.get("version", 1)
    if type(version) is not int or version < 1:  # YAML's `true` is an int to isinstance
        yield LineFinding(lines["version"], Rule.FIELDS, "'version' must be a whole number of at least 1")
    if not isinstance(fields.get("output"), str | None):
        yield LineFinding(lines["output"], Rule.FIELDS, "'output' must be the title of a schema or null")
    elif original is not None and "output" in fields and fields["output"] != original.output:
        said = f"'output' is {shown(fields['output'])}, but must be {original.output!r} for the prompt {original.name}"
        yield LineFinding(lines["output"], Rule.OUTPUT, said)
    called = fields.get("name")
    if isinstance(called, str) and called and original is None:
        near = get_close_matches(called[:100], packaged_prompts(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; run `factloop prompts list` to see the names"
        yield LineFinding(lines["name"], Rule.NAME, f"there is no prompt {shown(called)}{hint}")
    yield from _lint_variables(fields, lines["variables"], original)


def declared_variables(fields: Mapping[object, object]) -> tuple[str, ...] | None:
    names = fields.get("variables")
    if not isinstance(names, list):
        return None
    declared = tuple(name for name in names if isinstance(name, str) and name.isidentifier())
    return declared if len(declared) == len(names) else None


def _lint_variables(fields: Mapping[object, object], line: int, original: Prompt | None) -> Iterator[LineFinding]:
    if "variables" not in fields:
        return
    declared = declared_variables(fields)
    if declared is None:
        yield LineFinding(line, Rule.VARIABLES, "'variables' must be a list of names")
        return
    for name in (name for name, count in Counter(declared).items() if count > 1):
        yield LineFinding(line, Rule.VARIABLES, f"{shown(name)} is declared twice")
    if original is None:
        return
    for name in (name for name in original.variables if name not in declared):
        yield LineFinding(line, Rule.VARIABLES, f"the prompt {original.name} receives {name!r}; declare it")
    for name in (name for name in declared if name not in original.variables):
        has = ", ".join(original.variables)
        yield LineFinding(
            line, Rule.VARIABLES, f"the prompt {original.name} does not receive {shown(name)}, only {has}"
        )


LONGEST = 16_000
"""Maximum length of both sections in characters: seven times our longest prompt, or about 4,000 tokens of English."""

_SAYS_DATA = re.compile("instruct", re.IGNORECASE)
# These are joiners, which some scripts and emoji need, and weak direction marks, which affect only their own line.
_HARMLESS = frozenset("\t\n\u200c\u200d\u200e\u200f\u061c")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})


def lint_characters(text: str) -> Iterator[LineFinding]:
    """Finds invisible characters (control, reordering or zero-width), at most one per line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.isprintable():
            continue
        for character in line:
            if character not in _HARMLESS and unicodedata.category(character) in _UNSEEN:
                name = unicodedata.name(character, "a control character")
                yield LineFinding(
                    number, Rule.HIDDEN, f"contains the invisible character U+{ord(character):04X} ({name.lower()})"
                )
                break


def lint_text(
    parts: Layout, fields: Mapping[object, object], lines: Lines, original: Prompt | None
) -> Iterator[LineFinding]:
    """Checks the two sections, and compares them with the packaged prompt."""
    declared = declared_variables(fields)
    if declared is not None:
        yield from _lint_placeholders(parts, declared, lines["variables"])
    known = dict.fromkeys([*(declared or ()), *(original.variables if original is not None else ())])
    yield from _lint_braces(parts, tuple(known))
    yield from _lint_data(parts, tuple(known), original)
    yield from _lint_tags(parts, tuple(known))
    yield from _lint_shape(parts, lines["name"])
    if original is not None and isinstance(version := fields.get("version"), int):
        same = (parts.system.strip(), parts.user.strip()) == (original.system, original.user)
        if not same and version <= original.version:
            said = f"the text differs from the packaged version {original.version}; use a higher version"
            yield LineFinding(lines["version"], Rule.VERSION, said)


def _numbered(parts: Layout) -> Iterator[tuple[int, str]]:
    yield from enumerate(parts.system.split("\n"), parts.system_line)
    yield from enumerate(parts.user.split("\n"), parts.user_line)


def _lint_placeholders(parts: Layout, declared: Sequence[str], declared_line: int) -> Iterator[LineFinding]:
    used = set()
    for number, line in _numbered(parts):
        for name in PLACEHOLDER.findall(line):
            used.add(name)
            if name not in declared:
                yield LineFinding(number, Rule.VARIABLES, f"the text uses {shown(name)}, which is not declared")
    for name in dict.fromkeys(declared):
        if name not in used:
            yield LineFinding(declared_line, Rule.VARIABLES, f"{shown(name)} is declared, but the text never uses it")


def _lint_braces(parts: Layout, known: Sequence[str]) -> Iterator[LineFinding]:
    """JSON is not reported, because it has neither `{{` nor bare names in braces."""
    names = "|".join(map(re.escape, known)) or "(?!)"
    odd = re.compile(rf"\{{\{{.{{0,30}}|\{{%.{{0,30}}|\$?\{{\s*(?:{names})\s*\}}|%\((?:{names})\)s")
    for number, line in _numbered(parts):
        if match := odd.search(PLACEHOLDER.sub(" ", line)):
            yield LineFinding(
                number, Rule.BRACES, f"{shown(match[0].strip())} is sent unchanged; write placeholders as {{{{name}}}}"
            )


def _lint_data(parts: Layout, known: Sequence[str], original: Prompt | None) -> Iterator[LineFinding]:
    for number, line in enumerate(parts.system.split("\n"), parts.system_line):
        for name in dict.fromkeys(PLACEHOLDER.findall(line)):
            said = f"{shown(name)} is in the system section, among the instructions; move it to the user section"
            yield LineFinding(number, Rule.DATA_AS_INSTRUCTION, said)
    tag = re.compile(rf"<\s{{0,9}}/?\s{{0,9}}(?:{'|'.join(map(re.escape, known)) or '(?!)'})\b[^<>]*>", re.IGNORECASE)
    for number, line in enumerate(parts.user.split("\n"), parts.user_line):
        if match := tag.search(line):
            said = f"remove the tag {shown(match[0])}; it is added automatically"
            yield LineFinding(number, Rule.DATA_AS_INSTRUCTION, said)
    ours = original is not None and _SAYS_DATA.search(original.system)
    if ours and not _SAYS_DATA.search(parts.system) and not _SAYS_DATA.search(parts.user):
        said = "add a sentence that tagged text is data and never instructions, as in the packaged prompt"
        yield LineFinding(parts.system_line, Rule.DATA_AS_INSTRUCTION, said)


_TAG = re.compile(r"<(/?)([a-z_]\w{0,40})>", re.IGNORECASE)


def _lint_tags(parts: Layout, known: Sequence[str]) -> Iterator[LineFinding]:
    """A tag that the prompt itself closes is allowed."""
    closed = {name for mark, name in _TAG.findall(f"{parts.system}\n{parts.user}") if mark}
    for number, line in _numbered(parts):
        for name in dict.fromkeys(name for mark, name in _TAG.findall(line) if not mark):
            if known and name.lower() not in known and name not in closed:
                tags = ", ".join(f"<{one}>" for one in known)
                yield LineFinding(number, Rule.TAG, f"no variable matches the tag <{name}>; use one of {tags}")


_NO_JSON = re.compile(r"\b(?:no|not|without|never)(?:\s+(?:in|as|use|any)){0,2}\s+json\b", re.IGNORECASE)


def _lint_replies(parts: Layout, schemas: Sequence[type[BaseModel]], original: Prompt | None) -> Iterator[LineFinding]:
    """Findings mention only the first schema."""
    title, fields = schemas[0].__name__, ", ".join(schemas[0].model_fields)
    for number, line in _numbered(parts):
        if match := _NO_JSON.search(line):
            said = f"the text says {shown(match[0])}, but every reply must be a JSON object ({title}) with {fields}"
            yield LineFinding(number, Rule.REPLY, said)
    examples = [*_examples(parts.system, parts.system_line), *_examples(parts.user, parts.user_line)]
    for number, one in examples:
        if not any(schema.model_fields.keys() & one.keys() for schema in schemas):
            continue  # this is another kind of example, or the schema of the reply
        faults = [_fault(one, schema) for schema in schemas]
        if all(faults):
            yield LineFinding(number, Rule.REPLY, f"this is not a valid {title}: {faults[0]}")
    if not examples and original is not None and any(_examples(original.system, 1)):
        said = f"add an example reply, as in the packaged prompt: a JSON object with {fields}"
        yield LineFinding(parts.system_line, Rule.REPLY, said)


def _examples(text: str, first_line: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    text = text[:LONGEST]
    start = text.find("{")
    while start >= 0:
        try:
            found, end = JSONDecoder().raw_decode(text, start)
            if found:
                yield first_line + text.count("\n", 0, start), found
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def _fault(found: Mapping[str, Any], schema: type[BaseModel]) -> str:
    try:
        schema.model_validate(found, extra="forbid")
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        first = min(errors, key=lambda one: one["type"] != "extra_forbidden")
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            return f"unknown field {shown(name)}; the fields are {', '.join(schema.model_fields)}"
        return f"{shown(name)}: {first['msg'][0].lower()}{first['msg'][1:]}"
    return ""


def _lint_shape(parts: Layout, line: int) -> Iterator[LineFinding]:
    for part, text, start in (("system", parts.system, parts.system_line), ("user", parts.user, parts.user_line)):
        if not text.strip():
            yield LineFinding(start, Rule.EMPTY, f"the {part} section is empty")
    if (length := len(parts.system) + len(parts.user)) > LONGEST:
        yield LineFinding(line, Rule.TOO_LONG, f"every call sends {length:,} characters; try to stay below {LONGEST:,}")
