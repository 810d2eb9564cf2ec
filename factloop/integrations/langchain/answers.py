"""Reads and replaces an agent's final answer, which may be text, a structured response or a tool message."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import takewhile
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, ToolMessage
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from factloop.integrations.langchain.inputs import is_revision_request

PARSED = frozenset({"parsed", "tool_calls"})
"""Fields in which providers' message classes repeat the answer."""


@dataclass(frozen=True)
class FinalAnswer:
    """The guarded texts in an answer, and the messages and structured response that contain them."""

    texts: tuple[str, ...]
    messages: tuple[BaseMessage, ...]
    structured: Any = None
    """None if the answer is plain text."""

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)

    @property
    def tool(self) -> str | None:
        """The tool that the model called to return a structured response, if any."""
        last = self.messages[-1]
        return last.name if self.structured is not None and isinstance(last, ToolMessage) else None

    def split(self, text: str) -> tuple[str, ...]:
        """Splits a new answer into one text for each of `texts`. If this fails, the first text gets everything."""
        paragraphs, counts = text.split("\n\n"), [one.count("\n\n") + 1 for one in self.texts]
        if len(paragraphs) != sum(counts):
            return text, *[""] * (len(counts) - 1)
        rest = iter(paragraphs)
        return tuple("\n\n".join(next(rest) for _ in range(count)) for count in counts)

    def replaced(self, texts: Sequence[str], *, blocked: bool) -> tuple[list[BaseMessage], Any]:
        """Puts `texts` in place of the guarded texts. If the answer is `blocked`, the new messages contain nothing else
        from it. Their ids are new, because a stream of messages skips ids that it has already seen."""
        new = dict(zip(self.texts, texts, strict=True))
        structured = _with(self.structured, new)
        removed = [RemoveMessage(id=one.id) for one in self.messages if one.id is not None]
        return [*removed, *(self._rewritten(one, new, structured, blocked) for one in self.messages)], structured

    def _rewritten(self, message: BaseMessage, new: Mapping[str, str], structured: Any, blocked: bool) -> BaseMessage:
        text, update = str(message.text), dict[str, Any]({"id": str(uuid4())})
        if isinstance(message, AIMessage):
            extra = {} if blocked else message.additional_kwargs
            update["additional_kwargs"] = {name: one for name, one in extra.items() if name not in PARSED}
        if isinstance(message, AIMessage) and message is not self.messages[-1]:  # the tool call
            update["tool_calls"] = [{**call, "args": _with(call["args"], new)} for call in message.tool_calls]
            update["content"] = "" if blocked else _with(message.content, new)
        elif self.structured is None:
            update["content"] = _content(message, new[text], blocked=blocked)
        elif isinstance(message, ToolMessage):
            pairs = {str(self.structured): str(structured)}
            for old, one in (pairs if str(self.structured) in text else new).items():
                text = text.replace(old, one) if old else text
            update["content"] = text
        else:
            written = json.dumps(to_jsonable_python(structured, by_alias=True), ensure_ascii=False)
            update["content"] = _content(message, written, blocked=blocked)
        return message.model_copy(update=update)


def final_answer(state: Mapping[str, Any], named: Collection[str]) -> FinalAnswer | None:
    """Returns an agent's final answer, or None if there is no answer or nothing in it is guarded. In a structured
    response, the texts under the `named` keys are guarded or, if there are none, all texts of at least two words."""
    messages = list(state["messages"])
    while messages and is_revision_request(messages[-1]):  # an answer with a draft's id takes the draft's place
        messages.pop()
    last = messages[-1] if messages else None
    by_tools = [*takewhile(lambda one: isinstance(one, ToolMessage), reversed(messages))][::-1]
    structured = state.get("structured_response")
    if structured is not None:
        texts = [*leaves(structured, named, named=False)] or [*leaves(structured, (), named=False)]
        holding = messages[-len(by_tools) - 1 :]
        return FinalAnswer(tuple(dict.fromkeys(texts)), tuple(holding), structured) if texts else None
    if by_tools:
        return FinalAnswer(tuple(dict.fromkeys(str(one.text) for one in by_tools)), tuple(by_tools))
    if not isinstance(last, AIMessage) or not _says_something_or_nothing(last):
        return None
    return FinalAnswer((str(last.text),), (last,))


def _says_something_or_nothing(message: AIMessage) -> bool:
    says_nothing_else = all(block["type"] in ("text", "reasoning") for block in message.content_blocks)
    return bool(str(message.text).strip()) or says_nothing_else


def _content(message: BaseMessage, text: str, *, blocked: bool) -> Any:
    """Returns the content with new text. Unless `blocked`, keeps blocks of other types."""
    content, before = message.content, str(message.text)
    if isinstance(content, str) or blocked:
        return text
    if text.startswith(before):
        return [*content, {"type": "text", "text": text.removeprefix(before)}] if text != before else content
    others = [one for one in content if isinstance(one, dict) and one.get("type") != "text"]
    return [*others, {"type": "text", "text": text}]


def _parts(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel):
        return dict(value)
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(enumerate(value)) if isinstance(value, list | tuple) else {}


def leaves(value: Any, keys: Collection[str] = (), *, named: bool = True) -> Iterator[str]:
    """Yields all texts in a value if it is `named`, or else those under `keys`. If there are no `keys`, yields the
    texts of at least two words."""
    if type(value) is str and (named or (not keys and len(value.split()) > 1)):
        yield value
    for key, one in _parts(value).items():
        yield from leaves(one, keys, named=named or key in keys)


def _with(value: Any, new: Mapping[str, str]) -> Any:
    if type(value) is str:
        return new.get(value, value)
    changed = {key: _with(one, new) for key, one in _parts(value).items()}
    if isinstance(value, Mapping):
        return changed
    if isinstance(value, BaseModel):
        return value.model_copy(update=changed)
    if isinstance(value, list | tuple):
        return type(value)(changed.values())
    return replace(value, **changed) if is_dataclass(value) and not isinstance(value, type) else value
