"""A guard for `langchain.agents.create_agent` that checks the final answer against the evidence that was retrieved."""

from __future__ import annotations

import logging
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
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from langgraph.types import Command

from factloop.checking.views.plain import in_words
from factloop.core.errors import ConfigError
from factloop.core.findings import Finding, as_findings, has_unproven
from factloop.core.records import FactualityReport, Usage
from factloop.core.report_warnings import failure_of_all, failures
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
from factloop.tools.calls.meter import total_usage
from factloop.tools.calls.tracing import Span, current_span, outer_span
from factloop.tools.search.handed_over import documents_of

AnswerAction = Literal["annotate", "block", "record", "revise", "correct"]
LastAction = Literal["annotate", "block", "record"]
Retrieved = Literal["turn", "conversation"]
BLOCKED = "I cannot give an answer here: what I wrote could not be confirmed by the sources that I found."
BLOCKED_UNCHECKED = "I cannot give an answer right now: what I wrote could not be checked."
BLOCKED_EMPTY = "I cannot give an answer here, because I did not find one."
MAX_REVISIONS = 2

log = logging.getLogger(__name__)


class FactCheckState(AgentState[Any]):
    factcheck: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """The report on the last answer as a dictionary, or None if there was no answer to check."""
    factcheck_reports: NotRequired[Annotated[list[dict[str, Any]], OmitFromInput]]
    """The reports on drafts since the user's last message, at most `max_revisions`. The final answer is not a draft."""
    factcheck_correction: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """The correction as a dictionary, if `action="correct"`."""
    factcheck_usage: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    """The cost of all checks and corrections since the user's last message, including checks of drafts."""
    factcheck_told: NotRequired[Annotated[list[str], PrivateStateAttr]]
    """The system messages that the model received, if they are evidence."""


def in_a_note(report: FactualityReport) -> str:
    """Returns a short version of the report to add below an answer."""
    if not report.response.strip():
        return "Fact check: the answer is empty, so nothing was checked."
    return f"Fact check: {in_words(report)}"


def in_its_place(report: FactualityReport) -> str:
    """Returns the text that replaces a blocked answer, without details of any failure."""
    if not report.response.strip():
        return BLOCKED_EMPTY
    return BLOCKED if failure_of_all(report.claims) is None else BLOCKED_UNCHECKED


class FactCheckMiddleware(AgentMiddleware[FactCheckState, Any, Any]):
    """Checks an agent's final answer against the results of its tools since the user's last message.

    `evidence_tools` lists the tools that provide evidence; unknown names are logged. A tool's documents are those in
    its artifact or, if there are none, its text. Statements that the model wrote in a call's arguments are removed from
    later tool results, because an echo proves nothing. You can add evidence:

    - `retrieved="conversation"` includes tool results for earlier questions, which suits agents that answer follow-up
      questions. An answer may then pass because of evidence for another question;
    - `documents` are always included;
    - `system_message=True` adds the system message that the model received, including one from LangChain's
      `dynamic_prompt` if that middleware comes first. Pass a function to select evidence in the message's text;
    - `extract`, a function of the agent's state, returns the evidence to use instead of the tools' results.

    `blocks` decides whether a report fails. By default, it does if anything is unsupported or unchecked
    (`findings.has_unproven`), except for findings in `passing`. `action` is one of:

    - `annotate` (the default) adds the report, as formatted by `formatter`, below the answer;
    - `block` replaces an answer that fails with `message`, a string or a function of the report;
    - `record` changes nothing;
    - `revise` asks the agent for another answer, at most `max_revisions` times, while the answer fails. The agent
      receives the failed claims and what the evidence says, and may use its tools again. If no answer passes, `then`
      applies (by default `block`). In the end, drafts and requests are removed from the messages, but the drafts'
      reports are kept. An answer is sent back only if a claim is contradicted or lacks evidence or a source;
    - `correct` replaces the answer with the corrected text, in which doubtful passages are marked, as set by
      `contradicted`, `unsupported` and `unscored` (see `Corrector`). By default, marked passages no longer fail. A text
      that still fails is annotated. If claims stay unscored because calls failed or a limit was reached, `then` applies
      (by default `block`).

    In a structured response (`response_format=`), the texts under the keys in `fields` are guarded, at any depth, or,
    if there are none, all texts of at least two words. They are treated as one answer: `block` replaces each text, and
    `annotate` adds its note below the first. Messages that contain the response as JSON or a tool call are updated. A
    tool message that ends the run (`return_direct`) is the answer.

    The report is stored in the state as `factcheck`. In faithfulness mode, claims in an answer without evidence are
    unscored. An empty answer fails, unless your own `blocks` decides otherwise. A structured response without guarded
    texts, an image or a provider's refusal block passes unchecked, and `factcheck` is None. If the judge is
    unreachable, claims stay unscored. Raises ConfigError.

    The model's own output cannot be held back: it appears in the agent's `messages` stream before the check starts, and
    any replacement follows later, with a new id. In the `updates` stream, this middleware's step (`NAME.after_agent`)
    always contains the released answer.
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
        unscored: Unscored = "auto",
        retrieved: Retrieved = "turn",
        evidence_tools: Collection[str] | None = None,
        fields: Collection[str] | None = None,
    ) -> None:
        """By default, the offline engine judges the claims."""
        super().__init__()
        choices = {"action": (action, AnswerAction), "then": (then, LastAction), "retrieved": (retrieved, Retrieved)}
        for name, (value, known) in choices.items():
            if value not in get_args(known):
                raise ConfigError(f"{name} = {value!r}: must be one of {', '.join(get_args(known))}")
        if max_revisions < 1:
            raise ConfigError(f"max_revisions = {max_revisions}: must be 1 or more")
        if blocks is not None and passing:
            raise ConfigError("set either `blocks` or `passing`, not both: `blocks` already decides what passes")
        self.check = as_check(check)
        self._correction = CorrectionRunnable(
            self.check, max_rounds=max_rounds, contradicted=contradicted, unsupported=unsupported, unscored=unscored
        )
        self._request = PromptRegistry.load(self.check.checker.settings.prompts)[REVISION]
        self._action, self._then, self._max_revisions = action, then, max_revisions
        self._passing = as_findings(passing)
        self._blocks = blocks or (lambda one: not one.response.strip() or has_unproven(one, self._passing))
        self._blocks_by_findings = blocks is None
        self._message, self._formatter = message, formatter
        self._fields = _names("fields", fields or ())
        self._gatherer = Evidence(
            documents_of("documents", documents) or (),
            extract,
            system_message,
            retrieved == "conversation",
            None if evidence_tools is None else _names("evidence_tools", evidence_tools),
        )
        self._told_tools: set[str] = set()

    def before_agent(self, state: FactCheckState, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ARG002 - the base class has it
        begun: dict[str, Any] = dict.fromkeys(("factcheck", "factcheck_correction", "factcheck_usage"))
        return {**begun, "factcheck_reports": [], **({} if self._gatherer.conversation else {"factcheck_told": []})}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        self._warn_of_strange_tools(request)
        return self._with_told(request, handler(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        self._warn_of_strange_tools(request)
        return self._with_told(request, await handler(request))

    def _warn_of_strange_tools(self, request: ModelRequest[Any]) -> None:
        """Warns once about each name instead of raising an error, because tools may differ between an agent's calls."""
        there = sorted(_name_of(one) for one in request.tools)
        for name in sorted((self._gatherer.tools or frozenset()) - {*there, *self._told_tools}):
            log.warning("`evidence_tools`: the agent has no tool %r; its tools: %s", name, ", ".join(there) or "none")
            self._told_tools.add(name)

    def _with_told(
        self, request: ModelRequest[Any], response: ModelResponse[Any]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
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
        spent = [found.usage, *([found.before.usage] if isinstance(found, Correction) else ())]
        spent += map(Usage.model_validate, filter(None, [state.get("factcheck_usage")]))
        usage = total_usage(spent).model_dump(mode="json")
        update: dict[str, Any] = {"factcheck": report.model_dump(mode="json"), "factcheck_usage": usage}
        drafts = state.get("factcheck_reports") or []
        is_structured = state.get("structured_response") is not None
        may_revise = self._action == "revise" and len(drafts) < self._max_revisions
        if may_revise and self._blocks(report) and can_be_revised(report):
            note_decision(current_span(), "sent_back", report)
            cleared = {"structured_response": None} if is_structured else {}
            update |= {**cleared, "factcheck_reports": [*drafts, update["factcheck"]], "jump_to": "model"}
            return {**update, "messages": [revision_request(report, self._request)]}
        action = self._last_action(report)
        if isinstance(found, Correction):
            update["factcheck_correction"] = found.model_dump(mode="json")
        if action == "block" and self._blocks(report):
            said = self._message(report) if callable(self._message) else self._message
            decision, texts = "blocked", (said,) * len(answer.texts)
        elif isinstance(found, Correction):
            decision, texts = self._corrected(found, answer, noted=action == "annotate")
        elif action == "annotate":
            decision, texts = "annotated", self._annotated(answer.texts, report)
        else:
            decision, texts = "passed", answer.texts
        note_decision(current_span(), decision, report)
        let_out, structured = list(answer.messages), state.get("structured_response")
        if texts != answer.texts:
            let_out, structured = answer.replaced(texts, blocked=decision == "blocked")
        if is_structured:
            update["structured_response"] = structured
        return {**update, "messages": [*without_drafts(messages, answer.tool), *let_out]}

    def _last_action(self, report: FactualityReport) -> AnswerAction:
        if self._action == "revise":
            return self._then if self._blocks(report) else "record"
        broke_off = self._action == "correct" and failures(report.claims) and self._blocks(report)
        return self._then if broke_off else self._action

    def _corrected(self, correction: Correction, answer: FinalAnswer, *, noted: bool) -> tuple[str, tuple[str, ...]]:
        is_changed = correction.text != correction.before.response
        texts = answer.split(correction.text) if is_changed else answer.texts
        if noted or (self._blocks(correction.report) and not self._is_said(correction)):
            return "annotated", self._annotated(texts, correction.report)
        return ("corrected" if is_changed else "passed"), texts

    def _is_said(self, correction: Correction) -> bool:
        """Whether the text marks everything that does not pass. Always False if `blocks` is custom."""
        if not self._blocks_by_findings or not correction.report.response.strip():
            return False
        unmarked = (doubt for doubt in correction.doubts if doubt.mark is None)
        return all(self._passing.issuperset(doubt.findings) for doubt in unmarked)

    def _annotated(self, texts: Sequence[str], report: FactualityReport) -> tuple[str, ...]:
        return f"{texts[0]}\n\n{self._formatter(report)}".lstrip("\n"), *texts[1:]


def _name_of(tool: BaseTool | dict[str, Any]) -> str:
    if isinstance(tool, BaseTool):
        return tool.name
    return str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type"))


def _names(setting: str, given: Collection[str]) -> frozenset[str]:
    names = frozenset([given] if isinstance(given, str) else given)
    if not all(isinstance(name, str) for name in names):
        raise ConfigError(f"`{setting}` must contain names, such as {setting}=('answer',)")
    return names
