"""Gathers an agent's evidence: from its tools, from what it was given, and from its prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import SystemMessage

from factloop.integrations.langchain.inputs import retrieved_by
from factloop.tools.search.handed_over import documents_of

Extract = Callable[[Mapping[str, Any]], Sequence[Document | str]]
"""Extracts from an agent's state what the answer is held against, in place of what its tools brought."""
ReadSystem = Callable[[str], Sequence[Document | str]]
"""Reads the documents out of the text of a system message."""


@dataclass(frozen=True)
class EvidenceGatherer:
    """Gathers the documents that one answer is held against."""

    documents: tuple[Document, ...]
    """Always among them."""
    extract: Extract | None
    system_message: bool | ReadSystem
    conversation: bool
    """Whether evidence for earlier questions counts, too."""

    def of(self, state: Mapping[str, Any], told: Sequence[str]) -> list[Document]:
        """The documents; `told` are the system messages that the model was called with. Raises DataError."""
        if self.extract is not None:
            brought: Sequence[Document] = documents_of("what extract returned", self.extract(state)) or ()
        else:
            brought = retrieved_by(state["messages"], ever=self.conversation)
        read = (document for text in told for document in self._in_system(text))
        return [*self.documents, *read, *brought]

    def noted(self, told: Sequence[str], message: SystemMessage | None) -> list[str] | None:
        """`told` with this system message, or None where that changes nothing."""
        if self.system_message is False or message is None:
            return None
        text = str(message.text)
        return [*told, text] if text.strip() and text not in told else None

    def _in_system(self, text: str) -> Sequence[Document]:
        if callable(self.system_message):
            return documents_of("what system_message returned", self.system_message(text)) or ()
        return (Document(text, metadata={"source": "system message"}),)
