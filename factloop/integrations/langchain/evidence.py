"""The evidence that an agent's answer is held against: what was brought to the agent, and nothing that it wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from factloop.integrations.langchain.inputs import retrieved_by
from factloop.tools.search.base import SearchHit
from factloop.tools.search.handed_over import documents_of
from factloop.tools.text.outline import Part
from factloop.tools.text.sentences import split_sentences
from factloop.tools.text.silence import silence_of

Extract = Callable[[Mapping[str, Any]], Sequence[Document | str]]
"""Extracts from an agent's state what the answer is held against, in place of what its tools brought."""
ReadSystem = Callable[[str], Sequence[Document | str]]
"""Reads the documents out of the text of a system message."""


@dataclass(frozen=True)
class Evidence:
    """Gathers the documents that one answer is held against."""

    documents: tuple[Document, ...]
    """Always among them."""
    extract: Extract | None
    system_message: bool | ReadSystem
    conversation: bool
    """Whether evidence for earlier questions counts, too."""
    tools: frozenset[str] | None
    """The tools that bring evidence; None for all."""

    def of(self, state: Mapping[str, Any], told: Sequence[str], *, answering: str | None) -> list[Document]:
        """The documents; `told` are the system messages that the model was called with. Raises DataError.

        `answering` names the tool by whose call the model answers, which brings nothing.
        """
        if self.extract is not None:
            brought: Sequence[Document] = documents_of("what extract returned", self.extract(state)) or ()
        else:
            brought = retrieved_by(list(self._brought(state["messages"], answering)), ever=self.conversation)
        read = (document for text in told for document in self._in_system(text))
        return [*self.documents, *read, *brought]

    def noted(self, told: Sequence[str], message: SystemMessage | None) -> list[str] | None:
        """`told` with this system message, or None where that changes nothing."""
        if self.system_message is False or message is None:
            return None
        text = str(message.text)
        return [*told, text] if text.strip() and text not in told else None

    def _brought(self, messages: Sequence[BaseMessage], answering: str | None) -> Iterator[BaseMessage]:
        """The messages, those of tools without what the model had written in its calls until then."""
        names: dict[str | None, str] = {}
        own: list[str] = []
        for message in messages:
            if isinstance(message, AIMessage):
                names |= {call["id"]: call["name"] for call in message.tool_calls}
                own += texts_in([call["args"] for call in message.tool_calls])
            elif isinstance(message, ToolMessage):
                name = message.name or names.get(message.tool_call_id, "")
                if name != answering and (self.tools is None or name in self.tools):
                    yield from _not_its_own(message, own)
                continue
            yield message

    def _in_system(self, text: str) -> Sequence[Document]:
        if callable(self.system_message):
            return documents_of("what system_message returned", self.system_message(text)) or ()
        return (Document(text, metadata={"source": "system message"}),)


def texts_in(value: object) -> Iterator[str]:
    """The texts that a value of JSON holds, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(one)


def _not_its_own(message: ToolMessage, own: Sequence[str]) -> Iterator[ToolMessage]:
    """The message without what the model wrote itself; nothing where no more is left of it."""
    found: Any = message.artifact
    if isinstance(found, list) and found and all(isinstance(one, Document | SearchHit) for one in found):
        kept = [left for one in found if (left := _less(one, own)) is not None]
        if kept or not own:
            yield message.model_copy(update={"artifact": kept})
        return
    text = str(message.text)
    if (left := without_own(text, own)) == text:
        yield message
    elif any(map(str.isalnum, left)):
        yield message.model_copy(update={"content": left})


def _less(item: Document | SearchHit, own: Sequence[str]) -> Document | SearchHit | None:
    name = "page_content" if isinstance(item, Document) else "passage"
    text = getattr(item, name)
    left = without_own(text, own)
    return item if left == text else item.model_copy(update={name: left}) if any(map(str.isalnum, left)) else None


def without_own(text: str, own: Sequence[str]) -> str:
    """The text without the statements that stand in `own`, whatever their case and white space.

    What states nothing by itself stays, such as a name that was searched for, or a question.
    """
    for said in sorted({said for one in own for said in _statements(one)}, key=len, reverse=True):
        spelled = {said, json.dumps(said)[1:-1]}  # a tool may return it as JSON
        words = "|".join(_GAP.join(map(re.escape, one.rstrip(".!").split())) for one in sorted(spelled))
        text = re.sub(rf"(?<!\w)(?:{words})(?!\w)[.!]*", "", text, flags=re.IGNORECASE)
    known = [_plain(one) for one in own]
    for said in _statements(text):
        if any(_plain(said) in one for one in known):
            text = text.replace(said, "")
    return text


_GAP = r"(?:\s|\\[nrt])+"
_WORD = re.compile(r"\w+")


def _plain(text: str) -> str:
    return " ".join(["", *_WORD.findall(text.casefold()), ""])


def _statements(text: str) -> list[str]:
    """Its sentences that state something each by itself."""
    found = [one.text for one in split_sentences(text)]
    return [one for one in found if " " in one and silence_of(Part(one, 0, len(one), "heading")) is None]
