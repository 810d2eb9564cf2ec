"""A guard for `langchain.agents.create_agent`: the final answer against what the agent retrieved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Annotated, Any, Literal, NotRequired, get_args

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
from langgraph.runtime import Runtime
from langgraph.types import Command

from factloop.checking.views.plain import in_words
from factloop.core.errors import ConfigError
from factloop.core.findings import Finding, as_findings, has_unproven
from factloop.core.records import FactualityReport
from factloop.correction.corrector import MAX_ROUNDS
from factloop.correction.records import Contradicted, Correction, Unscored, Unsupported
from factloop.guarding.guard import note_decision
from factloop.integrations.langchain.answers import FinalAnswer, final_answer
from factloop.integrations.langchain.correction import (
    REVISION,
    CorrectionRunnable,
    can_be_revised,
    revision_request,
    without_drafts,
)
from factloop.integrations.langchain.evidence import Evidence, Extract, ReadSystem
from factloop.integrations.langchain.inputs import is_persons
from factloop.integrations.langchain.runnable import AnyChecker, FactCheckRunnable, as_check
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.tracing import Span, current_span, outer_span
from factloop.tools.search.handed_over import documents_of

AnswerAction = Literal["annotate", "block", "record", "revise", "correct"]
LastAction = Literal["annotate", "block", "record"]
Retrieved = Literal["turn", "conversation"]
_LAST_ACTIONS = ("annotate", "block", "record")
_ACTIONS = (*_LAST_ACTIONS, "revise", "correct")
BLOCKED = "I cannot give an answer here: what I wrote could not be confirmed by the sources that I found."
BLOCKED_EMPTY = "I cannot give an answer here: I have found none."
MAX_REVISIONS = 2


class FactCheckState(AgentState[Any]):
    factcheck: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """The report on the last answer as a dictionary; None where there was no answer to check."""
    factcheck_reports: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput]]
    """The reports on the drafts since the person spoke, `max_revisions` at most: not that on the last answer."""
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

    `evidence_tools` names the tools that bring evidence, in the place of all. Statements that the model itself wrote
    into the arguments of a call are taken out of what tools return from then on: an echo is no evidence.

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

    Of a structured response (`response_format=`) the texts under the keys in `fields` are guarded, at any depth; where
    none are named, or it has none of them, all texts of two words or more. They are one answer: where it is blocked,
    each has `message` in its place; the note of `annotate` stands below the first; messages that hold the response, as
    JSON or as a tool's call, change with it. Where a tool's message ends the agent (`return_direct`), it is the answer.

    The report is in the state under `factcheck` each time. In faithfulness mode an answer without any evidence has no
    judged claim, and is blocked if it states any. The documents of a tool are those of its artifact, else its text.
    An empty answer has a report without claims: it is blocked, or annotated, unless your own `blocks` says otherwise.
    A response without guarded texts is let out unchecked, and so is a picture or a block in which the provider words a
    refusal; then `factcheck` is None. A judge out of reach leaves claims unscored. Raises ConfigError.

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
        evidence_tools: Collection[str] | None = None,
        fields: Collection[str] = (),
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
            raise ConfigError("give blocks or passing, not both: what blocks also decides what passes")
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
        self._fields = _names("fields", fields)
        self._gatherer = Evidence(
            documents_of("documents", documents) or (),
            extract,
            system_message,
            retrieved == "conversation",
            None if evidence_tools is None else _names("evidence_tools", evidence_tools),
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
        with self._span():
            answer, asked = self._asked(state)
            return self._update(state, answer, self._checking.invoke(asked) if asked is not None else None)

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002 - the base class has it
        with self._span():
            answer, asked = self._asked(state)
            return self._update(state, answer, await self._checking.ainvoke(asked) if asked is not None else None)

    @property
    def _checking(self) -> FactCheckRunnable | CorrectionRunnable:
        return self._correction if self._action == "correct" else self.check

    def _span(self) -> Span:
        return outer_span(self.check.checker.settings.tracing, "guard", {"factloop.guard.action": self._action})

    def _asked(self, state: FactCheckState) -> tuple[FinalAnswer | None, dict[str, Any] | None]:
        """The final answer, and it with its question and its evidence; None where the agent ended without one."""
        answer = final_answer(state, self._fields)
        if answer is None:
            return None, None
        messages = state["messages"]
        history = messages if any(map(is_persons, messages)) else None
        documents = self._gatherer.of(state, state.get("factcheck_told") or [], answering=answer.tool)
        return answer, self.check.keys.write(answer.text, history, documents)

    def _update(
        self, state: FactCheckState, answer: FinalAnswer | None, found: FactualityReport | Correction | None
    ) -> dict[str, Any]:
        messages = state["messages"]
        if answer is None or found is None:
            return {"factcheck": None, "messages": without_drafts(messages)}
        report = found.report if isinstance(found, Correction) else found
        update: dict[str, Any] = {"factcheck": report.model_dump(mode="json")}
        drafts = state.get("factcheck_reports") or []
        is_structured = state.get("structured_response") is not None
        if self._action == "revise" and len(drafts) < self._max_revisions and self._may_revise(report):
            note_decision(current_span(), "sent_back", report)
            cleared = {"structured_response": None} if is_structured else {}
            update |= {**cleared, "factcheck_reports": [*drafts, update["factcheck"]], "jump_to": "model"}
            return {**update, "messages": [revision_request(report, self._request)]}
        if isinstance(found, Correction):
            update["factcheck_correction"] = found.model_dump(mode="json")
            decision, texts = self._corrected(found, answer)
        elif self._last_action(report) == "annotate":
            decision, texts = "annotated", self._annotated(answer.texts, report)
        elif self._last_action(report) == "block" and self._blocks(report):
            said = self._message(report) if callable(self._message) else self._message
            decision, texts = "blocked", (said,) * len(answer.texts)
        else:
            decision, texts = "passed", answer.texts
        note_decision(current_span(), decision, report)
        let_out, structured = list(answer.messages), state.get("structured_response")
        if texts != answer.texts:
            let_out, structured = answer.replaced(texts, blocked=decision == "blocked")
        if is_structured:
            update["structured_response"] = structured
        return {**update, "messages": [*without_drafts(messages, answer.tool), *let_out]}

    def _may_revise(self, report: FactualityReport) -> bool:
        return self._blocks(report) and can_be_revised(report)

    def _last_action(self, report: FactualityReport) -> AnswerAction:
        if self._action != "revise":
            return self._action
        return self._then if self._blocks(report) else "record"

    def _corrected(self, correction: Correction, answer: FinalAnswer) -> tuple[str, tuple[str, ...]]:
        is_changed = correction.text != correction.before.response
        texts = answer.split(correction.text) if is_changed else answer.texts
        if self._blocks(correction.report) and not self._is_said(correction):
            return "annotated", self._annotated(texts, correction.report)
        return ("corrected" if is_changed else "passed"), texts

    def _is_said(self, correction: Correction) -> bool:
        """Whether all that does not pass is marked in the text. A user's own `blocks` function cannot be examined."""
        if not self._blocks_by_findings or not correction.report.response.strip():
            return False
        unmarked = (doubt for doubt in correction.doubts if doubt.mark is None)
        return all(self._passing.issuperset(doubt.findings) for doubt in unmarked)

    def _annotated(self, texts: Sequence[str], report: FactualityReport) -> tuple[str, ...]:
        return f"{texts[0]}\n\n{self._formatter(report)}".lstrip("\n"), *texts[1:]

    def _has_unproven(self, report: FactualityReport) -> bool:
        return not report.response.strip() or has_unproven(report, self._passing)


def _names(setting: str, given: Collection[str]) -> frozenset[str]:
    names = frozenset([given] if isinstance(given, str) else given)
    if not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{setting}: names are needed, such as {setting}=('answer',)")
    return names
