"""A guard for `langchain.agents.create_agent`: the final answer against what the agent retrieved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NotRequired

from langchain.agents.middleware.types import AgentMiddleware, AgentState, OmitFromInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.runtime import Runtime

from factloop.errors import ConfigError
from factloop.integrations.langchain.inputs import Keys, retrieved_by
from factloop.integrations.langchain.runnable import FactCheckRunnable
from factloop.integrations.langchain.words import in_words
from factloop.records import FactualityReport

Action = Literal["annotate", "block", "record"]
_ACTIONS = ("annotate", "block", "record")
BLOCKED = "I cannot give an answer here: what I wrote could not be confirmed by the sources that I found."


class FactCheckState(AgentState[Any]):
    factcheck: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """The report on the last answer as a dictionary; None where there was no answer to check."""


def has_unproven(report: FactualityReport) -> bool:
    """Whether a claim is not supported, or could not be judged: a guard that cannot look does not wave through."""
    return report.counts.not_supported + report.counts.unscored > 0


class FactCheckMiddleware(AgentMiddleware[FactCheckState, Any, Any]):
    """Checks an agent's final answer against what its tools brought since the person last spoke.

    `action`: `annotate` (the default) puts the report in a few lines below the answer; `block` puts `message` in the
    place of an answer of which `blocks` holds; `record` changes nothing. The report is in the state under `factcheck`
    each time. In faithfulness mode an answer without anything retrieved has no judged claim, and is blocked if it
    states any. The documents of a tool are those of its artifact, else its text. Blocking concerns the final message
    of the state: tokens that the agent has streamed before are out. Raises ConfigError.
    """

    state_schema = FactCheckState

    def __init__(
        self,
        check: FactCheckRunnable | None = None,
        *,
        action: Action = "annotate",
        blocks: Callable[[FactualityReport], bool] = has_unproven,
        message: str = BLOCKED,
    ) -> None:
        super().__init__()
        if action not in _ACTIONS:
            raise ConfigError(f"action = {action!r}: must be one of {', '.join(_ACTIONS)}")
        self.check = check if check is not None else FactCheckRunnable()
        self._action, self._blocks, self._message = action, blocks, message

    def after_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the base class has it
        asked = _asked(state["messages"], self.check.keys)
        return self._update(state, self.check.invoke(asked) if asked is not None else None)

    async def aafter_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any] | None:  # noqa: ARG002 - the base class has it
        asked = _asked(state["messages"], self.check.keys)
        return self._update(state, await self.check.ainvoke(asked) if asked is not None else None)

    def _update(self, state: FactCheckState, report: FactualityReport | None) -> dict[str, Any]:
        if report is None:
            return {"factcheck": None}
        update: dict[str, Any] = {"factcheck": report.model_dump(mode="json")}
        answer = state["messages"][-1]
        if self._action == "annotate":
            text = f"{answer.text}\n\nFact check: {in_words(report)}"
            update["messages"] = [answer.model_copy(update={"content": text})]
        elif self._action == "block" and self._blocks(report):
            update["messages"] = [answer.model_copy(update={"content": self._message})]
        return update


def _asked(messages: Sequence[BaseMessage], keys: Keys) -> dict[str, Any] | None:
    """The final answer with its question and what was retrieved for it; None where the agent ended without one."""
    if not messages or not isinstance(messages[-1], AIMessage) or not str(messages[-1].text).strip():
        return None
    questions = [message for message in messages if isinstance(message, HumanMessage)]
    return keys.write(messages[-1], questions[-1] if questions else None, retrieved_by(messages))
