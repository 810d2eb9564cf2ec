"""A guard for `langchain.agents.create_agent`: the final answer against what the agent retrieved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, get_args
from uuid import uuid4

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    PrivateStateAttr,
    hook_config,
)
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, SystemMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from factloop.checking.views.plain import in_words
from factloop.core.errors import ConfigError
from factloop.core.findings import Finding, as_findings, has_unproven
from factloop.core.records import FactualityReport
from factloop.correction.corrector import MAX_ROUNDS
from factloop.correction.records import Contradicted, Correction, Unscored, Unsupported
from factloop.integrations.langchain.correction import (
    REVISION,
    CorrectionRunnable,
    can_be_revised,
    revision_request,
    without_drafts,
)
from factloop.integrations.langchain.inputs import is_persons, retrieved_by
from factloop.integrations.langchain.runnable import AnyChecker, FactCheckRunnable, as_check
from factloop.prompts.registry import PromptRegistry
from factloop.tools.search.handed_over import documents_of

AnswerAction = Literal["annotate", "block", "record", "revise", "correct"]
LastAction = Literal["annotate", "block", "record"]
Retrieved = Literal["turn", "conversation"]
Extract = Callable[[Mapping[str, Any]], Sequence[Document | str]]
"""Extracts from an agent's state what the answer is held against, in place of what its tools brought."""
ReadSystem = Callable[[str], Sequence[Document | str]]
"""Reads the documents out of the text of a system message."""
_LAST_ACTIONS = ("annotate", "block", "record")
_ACTIONS = (*_LAST_ACTIONS, "revise", "correct")
BLOCKED = "I cannot give an answer here: what I wrote could not be confirmed by the sources that I found."
BLOCKED_EMPTY = "I cannot give an answer here: I have found none."
MAX_REVISIONS = 2


class FactCheckState(AgentState[Any]):
    factcheck: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """The report on the last answer as a dictionary; None where there was no answer to check."""
    factcheck_reports: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput]]
    """The reports on all answers since the person spoke, drafts first: `max_revisions` and one more at most."""
    factcheck_correction: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """With `action="correct"`, the correction as a dictionary."""
    factcheck_told: NotRequired[Annotated[list[str], PrivateStateAttr]]
    """The system messages that the model was called with, where they are evidence."""


def in_a_note(report: FactualityReport) -> str:
    """The report in a few lines, as it stands below an answer."""
    if not report.response.strip():
        return "Fact check: the answer is empty, so nothing was checked."
    return f"Fact check: {in_words(report)}"


def in_its_place(report: FactualityReport) -> str:
    """What takes the place of a blocked answer."""
    return BLOCKED if report.response.strip() else BLOCKED_EMPTY


class FactCheckMiddleware(AgentMiddleware[FactCheckState, Any, Any]):
    """Checks an agent's final answer against what its tools brought since the person last spoke.

    With `retrieved="conversation"` against all that they brought, for agents that answer further questions from what
    they have read before; then an answer also passes on what was retrieved for another question. Further evidence:

    - `documents`, always;
    - with `system_message=True` the system message that the model was called with, for instance by LangChain's
      `dynamic_prompt`, if this middleware comes after it in the list; a function of its text may say what in it is
      evidence;
    - `extract`, a function of the agent's state, says what takes the place of what the tools brought.

    `action`:

    - `annotate` (the default) puts the report below the answer, as `formatter` words it;
    - `block` puts `message`, a text or a function of the report, in the place of an answer of which `blocks` holds:
      unless told otherwise, if anything in it is not supported or was not checked (`findings.has_unproven`), but for
      the findings in `passing`;
    - `record` changes nothing;
    - `revise` asks the agent for another answer while `blocks` holds, `max_revisions` times at most: it is told the
      claims that failed and what the evidence says, may use its tools again, and its next answer is checked against all
      that was retrieved since the person spoke. Of what still does not pass, `then` decides (`block`, unless told
      otherwise). Drafts and requests are taken out of the messages at the end; their reports stay. An answer that only
      failed to be checked is not sent back, since another would fare no better;
    - `correct` puts the corrected text in the place of the answer: what is contradicted is mended if a second check
      found that better, and what is in doubt is marked, unless `contradicted`, `unsupported` and `unscored` say
      otherwise (`Corrector`).
      A text of which `blocks` then still holds is annotated; not for what is marked in it, unless you gave `blocks`.

    The report is in the state under `factcheck` each time. In faithfulness mode an answer without any evidence has no
    judged claim, and is blocked if it states any. The documents of a tool are those of its artifact, else its text.
    An empty answer has a report without claims: it is blocked, or annotated, unless your own `blocks` says otherwise.
    An answer in the form of a tool call (`response_format=ToolStrategy(...)`) is no text, nor is a picture or a block
    in which the provider words a refusal: these are let out unchecked, and `factcheck` is None. Raises ConfigError.

    What the model writes cannot be held back: a stream of the agent's `messages` has the model's own answer, in tokens
    or whole, before the check begins. What takes its place has an id of its own, so that it follows in that stream; in
    `updates` the step of this middleware (`NAME.after_agent`) always has the answer that it lets out.
    """

    state_schema = FactCheckState

    def __init__(
        self,
        check: AnyChecker | None = None,
        *,
        action: AnswerAction = "annotate",
        documents: Sequence[Document | str] = (),
        extract: Extract | None = None,
        system_message: bool | ReadSystem = False,
        blocks: Callable[[FactualityReport], bool] | None = None,
        passing: Collection[Finding | str] = (),
        message: str | Callable[[FactualityReport], str] = in_its_place,
        formatter: Callable[[FactualityReport], str] = in_a_note,
        max_revisions: int = MAX_REVISIONS,
        then: LastAction = "block",
        max_rounds: int = MAX_ROUNDS,
        contradicted: Contradicted = "mark",
        unsupported: Unsupported = "mark",
        unscored: Unscored = "mark",
        retrieved: Retrieved = "turn",
    ) -> None:
        """`check` is a FactCheckRunnable or a FactChecker; without one the offline engine judges."""
        super().__init__()
        if action not in _ACTIONS:
            raise ConfigError(f"action = {action!r}: must be one of {', '.join(_ACTIONS)}")
        if then not in _LAST_ACTIONS:
            raise ConfigError(f"then = {then!r}: must be one of {', '.join(_LAST_ACTIONS)}")
        if retrieved not in get_args(Retrieved):
            raise ConfigError(f"retrieved = {retrieved!r}: must be one of {', '.join(get_args(Retrieved))}")
        if max_revisions < 1:
            raise ConfigError(f"max_revisions = {max_revisions}: must be 1 or more")
        if blocks is not None and passing:
            raise ConfigError("blocks and passing are both given: what blocks decides what passes, too")
        self.check = as_check(check)
        self._correction = CorrectionRunnable(
            self.check, max_rounds=max_rounds, contradicted=contradicted, unsupported=unsupported, unscored=unscored
        )
        self._request = PromptRegistry.load(self.check.checker.settings.prompts)[REVISION]
        self._action, self._then, self._max_revisions = action, then, max_revisions
        self._passing = as_findings(passing)
        self._blocks = blocks if blocks is not None else self._has_unproven
        self._blocks_by_findings = blocks is None
        self._message, self._formatter = message, formatter
        self._gatherer = _Evidence(
            documents_of("documents", documents) or (), extract, system_message, retrieved == "conversation"
        )

    def before_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002 - the base class has it
        begun: dict[str, Any] = {"factcheck": None, "factcheck_reports": [], "factcheck_correction": None}
        return begun if self._gatherer.conversation else {**begun, "factcheck_told": []}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        return self._with_told(request, handler(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        return self._with_told(request, await handler(request))

    def _with_told(
        self, request: ModelRequest[Any], response: ModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """The response, with a note of what the system message told the model."""
        state: Any = request.state
        told = self._gatherer.noted(state.get("factcheck_told") or [], request.system_message)
        if told is None:
            return response
        return ExtendedModelResponse(model_response=response, command=Command(update={"factcheck_told": told}))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002 - the base class has it
        asked = self._asked(state)
        return self._update(state, self._checking.invoke(asked) if asked is not None else None)

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002 - the base class has it
        asked = self._asked(state)
        return self._update(state, await self._checking.ainvoke(asked) if asked is not None else None)

    @property
    def _checking(self) -> FactCheckRunnable | CorrectionRunnable:
        return self._correction if self._action == "correct" else self.check

    def _asked(self, state: FactCheckState) -> dict[str, Any] | None:
        """The final answer with its question and its evidence; None where the agent ended without one."""
        messages = state["messages"]
        if not messages or not _is_answer(messages[-1]):
            return None
        questions = [message for message in messages if is_persons(message)]
        documents = self._gatherer.of(state, state.get("factcheck_told") or [])
        return self.check.keys.write(messages[-1], questions[-1] if questions else None, documents)

    def _update(self, state: FactCheckState, found: FactualityReport | Correction | None) -> dict[str, Any]:
        messages = state["messages"]
        if found is None:
            return {"factcheck": None, "messages": without_drafts(messages)}
        report = found.report if isinstance(found, Correction) else found
        written = report.model_dump(mode="json")
        reports = [*(state.get("factcheck_reports") or []), written][-self._max_revisions - 1 :]
        update: dict[str, Any] = {"factcheck": written, "factcheck_reports": reports}
        if self._action == "revise" and len(reports) <= self._max_revisions and self._may_revise(report):
            return {**update, "messages": [revision_request(report, self._request)], "jump_to": "model"}
        answer = messages[-1]
        content = answer.content
        if isinstance(found, Correction):
            update["factcheck_correction"] = found.model_dump(mode="json")
            content = self._corrected(found, answer)
        elif self._last_action(report) == "annotate":
            content = self._annotated(str(answer.text), report)
        elif self._last_action(report) == "block" and self._blocks(report):
            content = self._message(report) if callable(self._message) else self._message
        let_out = [answer] if content is answer.content else _in_the_place_of(answer, content)
        return {**update, "messages": [*without_drafts(messages), *let_out]}

    def _may_revise(self, report: FactualityReport) -> bool:
        return self._blocks(report) and can_be_revised(report)

    def _last_action(self, report: FactualityReport) -> AnswerAction:
        if self._action != "revise":
            return self._action
        return self._then if self._blocks(report) else "record"

    def _corrected(self, correction: Correction, answer: BaseMessage) -> Any:
        if self._blocks(correction.report) and not self._is_said(correction):
            return self._annotated(correction.text, correction.report)
        return correction.text if correction.text != correction.before.response else answer.content

    def _is_said(self, correction: Correction) -> bool:
        """Whether all that does not pass is marked in the text. A user's own `blocks` function cannot be examined."""
        if not self._blocks_by_findings or not correction.report.response.strip():
            return False
        unmarked = (doubt for doubt in correction.doubts if doubt.mark is None)
        return all(self._passing.issuperset(doubt.findings) for doubt in unmarked)

    def _annotated(self, text: str, report: FactualityReport) -> str:
        return f"{text}\n\n{self._formatter(report)}".lstrip("\n")

    def _has_unproven(self, report: FactualityReport) -> bool:
        return not report.response.strip() or has_unproven(report, self._passing)


def _is_answer(message: BaseMessage) -> bool:
    """Whether the agent's last message is its answer in words, or in none at all."""
    if not isinstance(message, AIMessage):
        return False
    says_nothing_else = all(block["type"] in ("text", "reasoning") for block in message.content_blocks)
    return bool(str(message.text).strip()) or says_nothing_else


def _in_the_place_of(answer: BaseMessage, content: Any) -> list[BaseMessage]:
    """The messages that put other content in the place of the answer.

    The new one has an id of its own: a stream of messages passes over those whose id it has seen.
    """
    replacement = answer.model_copy(update={"content": content, "id": str(uuid4())})
    return [*([RemoveMessage(id=answer.id)] if answer.id is not None else []), replacement]


@dataclass(frozen=True)
class _Evidence:
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
