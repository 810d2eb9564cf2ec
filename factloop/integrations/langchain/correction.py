"""Corrects answers as a step in a LangChain chain, and writes the message that asks an agent to revise its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from factloop.agents.safe.model_stages import passages
from factloop.core.records import Claim, Evidence, FactualityReport, UnscoredReason, Verdict
from factloop.correction.corrector import MAX_ROUNDS, Corrector
from factloop.correction.records import Contradicted, Correction, Unscored, Unsupported
from factloop.integrations.langchain.inputs import REQUEST, is_revision_request
from factloop.integrations.langchain.runnable import AnyChecker, InOneLoop, as_check
from factloop.prompts.registry import Prompt
from factloop.reports.claims import ClaimView
from factloop.tools.calls.blame import expect_outages

REVISION = "correction/revision"
MOST_CLAIMS, MOST_PASSAGES = 10, 8
"""Maximum number of claims and passages in one request to an agent."""


class CorrectionRunnable(InOneLoop[Correction]):
    """Corrects an answer based on the documents from which it was written.

        chain | CorrectionRunnable(FactChecker("openai:gpt-4o-mini")) | (lambda done: done.text)

    The input is the same as for `FactCheckRunnable`, with the same keys, mode and retriever. The output is a
    `Correction`, whose `text` is the text to use. Costs money if a model is used. Raises ConfigError, or DataError for
    invalid input.
    """

    def __init__(
        self,
        check: AnyChecker | None = None,
        *,
        max_rounds: int = MAX_ROUNDS,
        contradicted: Contradicted = "mark",
        unsupported: Unsupported = "mark",
        unscored: Unscored = "auto",
    ) -> None:
        """By default, the offline engine judges the claims. The check's limits apply to the whole correction. The other
        arguments are those of `Corrector`. Raises ConfigError."""
        self.check = as_check(check)
        self._corrector = Corrector(
            self.check.checker,
            max_rounds=max_rounds,
            contradicted=contradicted,
            unsupported=unsupported,
            unscored=unscored,
        )

    async def ainvoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> Correction:
        return await self._acall_with_config(self._correct, input, config, **kwargs)

    async def _correct(self, given: dict[str, Any]) -> Correction:
        asked = self.check.keys.read(given)
        sources = await self.check.sources(asked)
        expect_outages()
        return await self._corrector.acorrect(asked.response, asked.question, sources=sources, limits=self.check.limits)


def can_be_revised(report: FactualityReport) -> bool:
    """Whether a claim is contradicted or lacks evidence or a source, so that another answer could be better."""
    return bool(_failing(report))


def revision_request(report: FactualityReport, prompt: Prompt) -> HumanMessage:
    """Returns a message, marked as factloop's own, that lists up to ten failed claims and what the evidence says."""
    failing = _failing(report)[:MOST_CLAIMS]
    told = {
        is_contradicted: [
            f"{claim.self_contained} ({_outcome(claim)})"
            for claim in failing
            if bool(claim.judgement.contradicted) == is_contradicted
        ]
        for is_contradicted in (True, False)
    }
    rendered = prompt.render(contradicted=told[True], unproven=told[False], evidence=passages(_evidence(failing)))
    return HumanMessage(f"{rendered.system}\n\n{rendered.user}", additional_kwargs={REQUEST: True})


def without_drafts(messages: Sequence[BaseMessage], tool: str | None = None) -> list[RemoveMessage]:
    """Returns the messages to remove from an agent's history: requests for a revision and the drafts to revise.
    `tool` is the tool that the model calls to return its answer."""
    removed: list[RemoveMessage] = []
    for place, message in enumerate(messages):
        if is_revision_request(message):
            n_of_draft = _length_of_draft(messages[max(place - 2, 0) : place], tool)
            withdrawn = messages[place - n_of_draft : place + 1]
            removed += (RemoveMessage(id=one.id) for one in withdrawn if one.id is not None)
    return removed


def _length_of_draft(before: Sequence[BaseMessage], tool: str | None) -> int:
    """Returns how many messages form the answer (a text, or a call and its result), or 0 if other calls need them."""
    match before:
        case [*_, AIMessage(tool_calls=[])]:
            return 1
        case [AIMessage(tool_calls=[_]), ToolMessage(name=str(name))]:
            return 2 if name == tool else 0
    return 0


def _failing(report: FactualityReport) -> list[Claim]:
    return [
        claim
        for claim in report.claims
        if claim.judgement.verdict is Verdict.NOT_SUPPORTED
        or claim.judgement.unscored_reason is UnscoredReason.NO_SOURCE
    ]


def _outcome(claim: Claim) -> str:
    one = ClaimView(claim)
    rationale = " ".join(one.why.split())
    return f"{one.words}; {rationale}" if rationale else one.words


def _evidence(claims: Sequence[Claim]) -> list[Evidence]:
    cited = [item for claim in claims for item in claim.evidence if item.id in claim.judgement.cited]
    return list({(item.source, item.passage): item for item in cited}.values())[:MOST_PASSAGES]
