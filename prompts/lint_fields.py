"""Lints the front matter of a prompt: its fields, and what a variant may not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import yaml

from factloop.prompts.layout import FIELDS
from factloop.prompts.lint_rules import LineFinding, Rule, shown
from factloop.prompts.registry import Prompt


@dataclass(frozen=True)
class Lines:
    """The lines of the fields, from 1 in the whole file."""

    by_field: Mapping[str, int]
    """The last line for a field that stands there twice: that one counts."""
    repeated: tuple[str, ...]

    @classmethod
    def of(cls, front_matter: str) -> Lines:
        """Takes YAML that could be read."""
        root = yaml.compose(front_matter, Loader=yaml.SafeLoader)
        keys = [key for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
        counts = Counter(str(key.value) for key in keys)
        return cls(
            {str(key.value): key.start_mark.line + 2 for key in keys},
            tuple(name for name, count in counts.items() if count > 1),
        )

    def __getitem__(self, field: str) -> int:
        """The first line for a field that is not there."""
        return self.by_field.get(field, 1)


def lint_fields(
    fields: Mapping[object, object], lines: Lines, original: Prompt | None, packaged: Mapping[str, Prompt]
) -> Iterator[LineFinding]:
    """The findings on the fields, one by one and against the packaged prompt of that name."""
    for missing in (name for name in FIELDS if name not in fields):
        yield LineFinding(1, Rule.FIELDS, f"the front matter lacks the field {missing!r}")
    for stranger in (name for name in fields if name not in FIELDS):
        yield LineFinding(lines[str(stranger)], Rule.FIELDS, f"there is no field {shown(stranger)}")
    for name in lines.repeated:
        yield LineFinding(lines[name], Rule.REPEATED, f"the field {shown(name)} stands there twice; this one counts")
    for name in (name for name in ("name", "source") if name in fields):
        if not isinstance(fields[name], str) or not fields[name]:
            yield LineFinding(lines[name], Rule.FIELDS, f"{name!r} is text")
    version = fields.get("version", 1)
    if type(version) is not int or version < 1:  # YAML's `true` is an int to isinstance
        yield LineFinding(lines["version"], Rule.FIELDS, "'version' is a whole number from 1")
    if not isinstance(fields.get("output"), str | None):
        yield LineFinding(lines["output"], Rule.FIELDS, "'output' is the title of a schema, or null")
    elif original is not None and "output" in fields and fields["output"] != original.output:
        said = f"the output is {shown(fields['output'])}, but {original.name} is answered by {original.output!r}"
        yield LineFinding(lines["output"], Rule.OUTPUT, said)
    called = fields.get("name")
    if isinstance(called, str) and called and original is None:
        near = get_close_matches(called[:100], packaged, n=1)
        hint = f"; is it {near[0]!r}?" if near else "; factloop prompts list shows the names"
        yield LineFinding(lines["name"], Rule.NAME, f"no prompt is named {shown(called)}{hint}")
    yield from _lint_variables(fields, lines["variables"], original)


def declared_variables(fields: Mapping[object, object]) -> tuple[str, ...] | None:
    """The declared names; None where they are not declared as they should be."""
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
        yield LineFinding(line, Rule.VARIABLES, "'variables' is a list of names")
        return
    for name in (name for name, count in Counter(declared).items() if count > 1):
        yield LineFinding(line, Rule.VARIABLES, f"{shown(name)} is declared twice")
    if original is None:
        return
    for name in (name for name in original.variables if name not in declared):
        yield LineFinding(line, Rule.VARIABLES, f"{original.name} is given {name!r}, too, which is not declared")
    for name in (name for name in declared if name not in original.variables):
        has = ", ".join(original.variables)
        yield LineFinding(line, Rule.VARIABLES, f"{original.name} is never given {shown(name)}; it is given {has}")
