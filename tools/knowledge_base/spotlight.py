"""DBpedia Spotlight: which parts of a text name which resource of DBpedia, and of which types that is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from factloop.core.errors import ToolError
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.json_client import JsonAnswer

LONGEST_TEXT = 4_000
"""Characters of a text that are sent: what stands behind them is not linked."""
LONGEST_QUESTION = 400
TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}")
_PREFIX = "DBpedia:"
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""Lone surrogates have no UTF-8, and Spotlight makes XML on its way, which has no control characters. One blank stands
for each, so that everything else keeps its place."""


@dataclass(frozen=True, slots=True)
class SpotlightMention:
    """`text[start:end]` names the resource at `uri`, which has these classes of DBpedia's ontology, at least one."""

    start: int
    end: int
    uri: str
    types: tuple[str, ...]


class _Resource(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    uri: str = Field(alias="@URI")
    types: str | None = Field(default=None, alias="@types")
    surface: str = Field(alias="@surfaceForm")
    offset: int = Field(alias="@offset")


class _Annotation(BaseModel):
    text: str | None = Field(default=None, alias="@text")
    resources: list[_Resource] = Field(default=[], alias="Resources")

    @model_validator(mode="after")
    def _is_an_answer(self) -> _Annotation:
        """A text in which nothing was found has no `Resources`; it is still repeated."""
        if not self.model_fields_set:
            raise ValueError("neither @text nor Resources")
        return self


class SpotlightClient:
    """Asks one endpoint. `confidence` in [0, 1]: how sure Spotlight must be of a link."""

    def __init__(self, endpoint: Endpoint, confidence: float) -> None:
        self._endpoint, self._confidence = endpoint, confidence

    async def annotate(self, text: str, question: str) -> list[SpotlightMention]:
        """The mentions in `text`, in order, without overlap. Raises ToolError, ToolTimeout.

        The question is sent in front of the text: it is context for the choice among namesakes.
        """
        kept = text[:LONGEST_TEXT]
        if not any(map(str.isalpha, kept)):
            return []
        lead = f"{question.strip()[:LONGEST_QUESTION]}\n\n" if question.strip() else ""
        sent = _UNSENDABLE.sub(" ", lead + kept)
        fields = {"text": sent, "confidence": f"{self._confidence:g}"}
        found = [_Resource.model_validate(value) for value in await self._endpoint.ask("POST", fields, self._read)]
        placed = (_placed(resource, sent, len(lead)) for resource in found)
        return _without_overlap(mention for mention in placed if mention is not None)

    def _read(self, answer: JsonAnswer) -> list[dict[str, object]]:
        try:
            annotation = _Annotation.model_validate(answer.value)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            message = f"{self._endpoint.tool}: the answer has another shape than annotations have (at {where!r})"
            raise ToolError(message, tool=self._endpoint.tool) from error
        return [resource.model_dump(by_alias=True) for resource in annotation.resources]


def dbpedia_types(types: str) -> tuple[str, ...]:
    """Names of the classes of DBpedia's own ontology in Spotlight's list, without its other vocabularies."""
    names = (part.strip() for part in types.split(","))
    own = (name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
    return tuple(dict.fromkeys(name for name in own if TYPE_NAME.fullmatch(name) and name != "Thing"))


def _placed(resource: _Resource, sent: str, lead: int) -> SpotlightMention | None:
    """The place in the text behind the lead; None for one in the lead, or nowhere, or without types.

    Spotlight also links bare numbers ("02" is a film to it): these are no entities.
    """
    types = dbpedia_types(resource.types or "")
    if not types or not any(map(str.isalpha, resource.surface)):
        return None
    start = _start(resource, sent, lead)
    if start is None:
        return None
    return SpotlightMention(start - lead, start - lead + len(resource.surface), resource.uri, types)


def _start(resource: _Resource, sent: str, lead: int) -> int | None:
    """The offset is believed only where the name stands there. Java counts in units of UTF-16, Python in characters."""
    for offset in (_from_utf16(sent, resource.offset), resource.offset):
        if offset >= 0 and sent.startswith(resource.surface, offset):
            return offset if offset >= lead else None
    found = sent.find(resource.surface, lead)
    return found if found >= 0 else None


def _from_utf16(text: str, units: int) -> int:
    return len(text.encode("utf-16-le")[: 2 * max(0, units)].decode("utf-16-le", "ignore"))


def _without_overlap(mentions: Iterable[SpotlightMention]) -> list[SpotlightMention]:
    """The mentions without overlap: of those that overlap the longest stays, of equals the first."""
    kept: list[SpotlightMention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start - mention.end, mention.start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.start)
