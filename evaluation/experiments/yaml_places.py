"""Reads YAML with the line of every field, so that an error in a value names its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from factloop.core.errors import DataError

LARGEST, DEEPEST = 2**18, 16
"""Characters of a file that a person writes, and lists and fields within one another."""

Path = tuple[str | int, ...]
"""The way from the top to a value: names of fields, and numbers of entries from 0."""


@dataclass(frozen=True)
class PlacedYaml:
    """The mapping that a file holds."""

    path: str
    fields: Mapping[str, Any]
    lines: Mapping[Path, int]
    """The line of every field and entry, from 1."""

    def error(self, message: str, place: Sequence[str | int]) -> DataError:
        """The error with its file, its field, and the line of that field or of the innermost one around it."""
        at = tuple(place)
        line = next(self.lines[at[:end]] for end in range(len(at), -1, -1) if at[:end] in self.lines)
        return DataError(message, path=self.path, line=line, field=".".join(map(str, at)) or None)


def read_placed_yaml(text: str, path: str) -> PlacedYaml:
    """The one mapping of a YAML text.

    Raises DataError, with the line, for what is not YAML, no mapping or too large, for a field that stands twice, and
    for anchors and aliases, by which a small file can stand for a huge one.
    """
    if len(text) > LARGEST:
        raise DataError(f"it is longer than {LARGEST:,} characters", path=path)
    try:
        _refuse_unusual(text, path)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode):
            raise DataError("fields and their values are needed, such as `name: first`", path=path, line=1)
        lines = dict(_lines(node, (), 1, path))
        return PlacedYaml(path, yaml.safe_load(text), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = f"this is not YAML: {', '.join(part for part in (error.context, error.problem) if part)}"
        raise DataError(said, path=path, line=None if mark is None else mark.line + 1) from error
    except (yaml.YAMLError, ValueError) as error:  # a control character, an impossible date
        raise DataError(f"this is not YAML: {str(error).splitlines()[0]}", path=path) from error


def _refuse_unusual(text: str, path: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = None if event.start_mark is None else event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise DataError("anchors and aliases (&, *) are not read: write the value out", path=path, line=line)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise DataError(f"lists and fields stand more than {DEEPEST} deep in one another", path=path, line=line)


def _lines(node: yaml.Node, place: Path, line: int, path: str) -> Iterator[tuple[Path, int]]:
    yield place, line
    if isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            yield from _lines(entry, (*place, number), entry.start_mark.line + 1, path)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise DataError(
                    f"the name of a field is a text; put {str(name)[:40]!r} in quotes", path=path, line=line
                )
            if name in seen:
                raise DataError(f"{name[:80]!r} stands here twice", path=path, line=line)
            seen.add(name)
            yield from _lines(value, (*place, name), line, path)
