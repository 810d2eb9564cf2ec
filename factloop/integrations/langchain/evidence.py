"""Collects the evidence for an agent's answer. Text that the agent wrote itself does not count."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from factloop.integrations.langchain.answers import leaves
from factloop.integrations.langchain.inputs import brought_by, is_persons
from factloop.tools.search.handed_over import documents_of
from factloop.tools.text.outline import Part
from factloop.tools.text.sentences import split_sentences
from factloop.tools.text.silence import silence_of

Extract = Callable[[Mapping[str, Any]], Sequence[Document | str]]
"""Extracts the evidence for an answer from the agent's state. Its result replaces the tool results."""
ReadSystem = Callable[[str], Sequence[Document | str]]
"""Extracts documents from the text of a system message."""


@dataclass(frozen=True)
class Evidence:
    documents: tuple[Document, ...]
    """Documents that are always part of the evidence."""
    extract: Extract | None
    system_message: bool | ReadSystem
    conversation: bool
    """Whether evidence retrieved for earlier questions also counts."""
    tools: frozenset[str] | None
    """The tools whose results are evidence, or None for all tools."""

    def of(self, state: Mapping[str, Any], told: Sequence[str], *, answering: str | None) -> list[Document]:
        """Returns the documents. `told` contains the model's system messages. Raises DataError. `answering` is the tool
        that the model calls to return its answer, so its output is not evidence."""
        if self.extract is not None:
            brought: Sequence[Document] = documents_of("what extract returned", self.extract(state), found=True) or ()
        else:
            brought = list(self._brought(state["messages"], answering))
        read = (document for text in told for document in self._in_system(text))
        return [*self.documents, *read, *brought]

    def noted(self, told: Sequence[str], message: SystemMessage | None) -> list[str] | None:
        """Returns `told` with this system message added, or None if that would change nothing."""
        if self.system_message is False or message is None:
            return None
        text = str(message.text)
        return [*told, text] if text.strip() and text not in told else None

    def _brought(self, messages: Sequence[BaseMessage], answering: str | None) -> Iterator[Document]:
        """Yields tool results without text that the model wrote in earlier calls. Documents from a named tool keep
        their full text, because the model may have used a true sentence as its query."""
        asked = max((place for place, one in enumerate(messages) if is_persons(one)), default=-1)
        names: dict[str | None, str] = {}
        own: list[str] = []
        for place, message in enumerate(messages):
            if isinstance(message, AIMessage):
                names |= {call["id"]: call["name"] for call in message.tool_calls}
                own += leaves([call["args"] for call in message.tool_calls])
            elif isinstance(message, ToolMessage) and (self.conversation or place > asked):
                name = message.name or names.get(message.tool_call_id, "")
                if name != answering and (self.tools is None or name in self.tools):
                    vouched = self.tools is not None and isinstance(message.artifact, list)
                    for document in brought_by(message):
                        left = without_own(document.page_content, [] if vouched else own)
                        if any(map(str.isalnum, left)):
                            yield document.model_copy(update={"page_content": left})

    def _in_system(self, text: str) -> Sequence[Document]:
        if callable(self.system_message):
            return documents_of("what system_message returned", self.system_message(text), found=True) or ()
        return (Document(text, metadata={"source": "system message"}),)


def without_own(text: str, own: Sequence[str]) -> str:
    """Returns the text without the statements that are also in `own`, ignoring case and white space. A text that states
    nothing, such as a question or a name that was searched for, is kept."""
    said = {words for one in own for words in _statements(one)}
    for words in sorted(said | {json.dumps(one)[1:-1] for one in said}, key=len, reverse=True):  # or JSON-escaped
        pattern = _GAP.join(map(re.escape, words.rstrip(".!").split()))
        text = re.sub(rf"(?<!\w){pattern}(?!\w)[.!]*", "", text, flags=re.IGNORECASE)
    known = " . ".join(map(_plain, own))
    for words in _statements(text):
        text = text.replace(words, "") if _plain(words) in known else text
    return text


_GAP = r"(?:\s|\\[nrt])+"
_WORD = re.compile(r"\w+")


def _plain(text: str) -> str:
    return " ".join(["", *_WORD.findall(text.casefold()), ""])


def _statements(text: str) -> list[str]:
    found = [one.text for one in split_sentences(text)]
    return [one for one in found if " " in one and silence_of(Part(one, 0, len(one), "heading")) is None]
