"""Combines a question with the preceding conversation into the text that prompts and reports show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages

from factloop.core.errors import DataError

Question = str | BaseMessage | Sequence[BaseMessage | tuple[str, str] | Mapping[str, str]]
"""A string, a message, or a list of messages or (role, text) pairs with at least one question from the user."""
MOST_EARLIER = 4_000
"""Maximum total number of characters in the turns before the question. The oldest turns are dropped first."""
_EARLIER, _NOW = "Earlier in the conversation:", "The question now:"


def question_of(given: Question | None) -> str | None:
    """Returns the user's last question, preceded by the conversation that led to it. Later turns are dropped.

    System messages, tool messages and turns without text are ignored. Raises DataError if the list contains an invalid
    item or no message from the user.
    """
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, BaseMessage):
        return str(given.text)
    try:
        messages = convert_to_messages(list(given))  # type: ignore[arg-type]  # it checks each item
    except Exception as error:  # LangChain raises many kinds of errors for invalid items
        raise DataError("question must be a string, a message or a list of messages") from error
    turns = [one for one in messages if isinstance(one, HumanMessage | AIMessage) and str(one.text).strip()]
    last = max((place for place, one in enumerate(turns) if isinstance(one, HumanMessage)), default=None)
    if last is None:
        raise DataError("question: the list must contain a message from a user")
    roles = ("Person" if isinstance(one, HumanMessage) else "Assistant" for one in turns)
    earlier = [f"{role}: {str(one.text).strip()}" for role, one in zip(roles, turns[:last], strict=False)]
    while sum(map(len, earlier)) > MOST_EARLIER:
        del earlier[0]
    asked = str(turns[last].text)
    return "\n\n".join([_EARLIER, *earlier, _NOW, asked]) if earlier else asked


def turns_of(question: str) -> tuple[Sequence[str], str]:
    """Splits a question into the turns before it, oldest first, and the question itself."""
    before, _, asked = question.rpartition(f"\n\n{_NOW}\n\n")
    if not before.startswith(_EARLIER):
        return (), question
    said = before.split("\n\n")[1:]
    return [turn.removeprefix("Person: ").removeprefix("Assistant: ") for turn in said], asked
