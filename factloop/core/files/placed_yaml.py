"""Reads a YAML mapping and records the line number of every field for error messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from factloop.core.errors import DataError

LONGEST_NUMBER = 100
"""In characters. Python cannot print integers with thousands of digits."""

Place = tuple[str | int, ...]
"""The path to a value: field names, and list indexes starting at 0."""


@dataclass(frozen=True)
class PlacedYaml:
    path: str
    fields: Mapping[str, Any]
    lines: Mapping[Place, int]

    def error(self, message: str, place: Sequence[str | int]) -> DataError:
        """An error with the file, field and line. If the field is missing, the line is that of its parent."""
        at = tuple(place)
        line = next(self.lines[at[:end]] for end in range(len(at), -1, -1) if at[:end] in self.lines)
        return DataError(message, path=self.path, line=line, field=".".join(map(str, at)) or None)


class PlainLoader(yaml.SafeLoader):
    """Rejects tags, very long integers and aliases. Expanding nested aliases could take exponential time."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None) is not None:
            raise yaml.composer.ComposerError(None, None, "aliases and tags are not supported", event.start_mark)
        return super().compose_node(parent, index)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > LONGEST_NUMBER:
            raise yaml.constructor.ConstructorError(None, None, "this number is too long", node.start_mark)
        return super().construct_yaml_int(node)


PlainLoader.add_constructor("tag:yaml.org,2002:int", PlainLoader.construct_yaml_int)


def read_placed_yaml(text: str, path: str) -> PlacedYaml:
    """Raises DataError, with the line number, if the text is not a YAML mapping or a field appears twice."""
    try:
        node = yaml.compose(text, Loader=PlainLoader)
        if not isinstance(node, yaml.MappingNode):
            raise DataError("must contain fields with values, such as `name: first`", path=path, line=1)
        lines = dict(_lines(node, (), 1, path))
        return PlacedYaml(path, yaml.load(text, PlainLoader), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = f"this is not YAML: {', '.join(part for part in (error.context, error.problem) if part)}"
        raise DataError(said, path=path, line=None if mark is None else mark.line + 1) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a control character, an impossible date
        raise DataError(f"this is not YAML: {str(error).splitlines()[0]}", path=path) from error


def _lines(node: yaml.Node, place: Place, line: int, path: str) -> Iterator[tuple[Place, int]]:
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
                raise DataError(f"field names must be strings; put {str(name)[:40]!r} in quotes", path=path, line=line)
            if name in seen:
                raise DataError(f"{name[:80]!r} appears twice", path=path, line=line)
            seen.add(name)
            yield from _lines(value, (*place, name), line, path)
