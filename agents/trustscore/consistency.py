"""TrustBC as a LangGraph state machine (paper, section 2.1): does the subject stick to its response?

    distract ─▶ ask ─▶ decide ─▶ conclude
                 ▲        │
                 └────────┘

All questions are planned before the first is asked, and count in that order. `window` of them are asked at a time: a
wider window pays for a few questions beyond the one that ends the matter, and changes no result.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.nodes import AsyncNode, CallingNode, Graph, Update, meter_of
from factloop.agents.trustscore.questions import DISTRACTORS_A_CHECK, plan_checks
from factloop.agents.trustscore.records import ConsistencyCheck, DistractorSet, Option, OptionKind, TrustBC
from factloop.agents.trustscore.stages import Distract, Subject, TrustContext
from factloop.agents.trustscore.state import (
    ConsistencyInput,
    ConsistencyOutput,
    ConsistencyState,
    QuestionOutcome,
    QuestionPlan,
)
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.records import UnscoredReason
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together

DISTRACT, ASK, CONCLUDE = "distract", "ask", "conclude"
LEAST_MASS = 0.5
"""Share of the probability that the five letters must hold together for a graded score."""
LONGEST_SHOWN_REPLY = 2_000
"""Characters of an unreadable reply that are kept."""


def build_consistency_graph(subject: Subject, distract: Distract, *, max_checks: int, window: int, seed: int) -> Graph:
    """The compiled graph from `{question, response}` to `{trust_bc}`. One for all answers of a run."""
    graph = StateGraph(
        ConsistencyState, context_schema=TrustContext, input_schema=ConsistencyInput, output_schema=ConsistencyOutput
    )
    graph.add_node(DISTRACT, _build_distract(distract, max_checks, seed))
    graph.add_node(ASK, _build_ask(subject, window))
    graph.add_node(CONCLUDE, _build_conclude(max_checks))
    graph.add_edge(START, DISTRACT)
    graph.add_conditional_edges(DISTRACT, decide, [ASK, CONCLUDE])
    graph.add_conditional_edges(ASK, decide, [ASK, CONCLUDE])
    graph.add_edge(CONCLUDE, END)
    return graph.compile(name="trust_bc")


async def decide(state: ConsistencyState) -> str:
    """Goes on to the next questions, unless all were asked or one was answered inconsistently."""
    asked = state["asked"]
    is_over = len(asked) == len(state["planned"]) or any(check["consistent"] is False for check in asked)
    return CONCLUDE if is_over else ASK


def _build_distract(distract: Distract, max_checks: int, seed: int) -> CallingNode[ConsistencyState]:
    async def node(state: ConsistencyState, *, runtime: Runtime[TrustContext]) -> Update:
        references = state.get("references", [])
        found = await distract(state["question"], state["response"], references=references, meter=meter_of(runtime))
        rng = random.Random(f"{seed}\n{state['question']}\n{state['response']}\nchecks")
        texts = [item.text for item in found.distractors]
        planned = plan_checks(state["response"], texts, max_checks=max_checks, rng=rng)
        return {
            "distractor_set": found.model_dump(mode="json"),
            "planned": [
                QuestionPlan(options=[option.model_dump(mode="json") for option in check.options], reuses=check.reuses)
                for check in planned
            ],
            "asked": [],
        }

    return node


def _build_ask(subject: Subject, window: int) -> CallingNode[ConsistencyState]:
    async def ask(state: ConsistencyState, *, runtime: Runtime[TrustContext]) -> Update:
        done = len(state["asked"])
        batch = state["planned"][done : done + window]
        fresh = await together(_ask_one(subject, state, planned, meter_of(runtime)) for planned in batch)
        return {"asked": [*state["asked"], *fresh]}

    return ask


async def _ask_one(
    subject: Subject, state: ConsistencyState, planned: QuestionPlan, meter: UsageMeter
) -> QuestionOutcome:
    """The subject's choice, or why it made none: a failure is no inconsistency. Raises ConfigError."""
    options = [Option.model_validate(option) for option in planned["options"]]
    try:
        choice = await subject.choose(
            state["question"], options, statements=state.get("statements", False), meter=meter
        )
    except ConfigError:
        raise
    except FactloopError as error:
        said = str(getattr(error, "reply", "") or error)[:LONGEST_SHOWN_REPLY]
        return QuestionOutcome(
            chosen=None, consistent=None, unscored_reason=reason_of(error), reply=said, letter_probabilities=None
        )
    right = next(option.letter for option in options if option.kind is OptionKind.RESPONSE)
    return QuestionOutcome(
        chosen=choice.letter,
        consistent=choice.letter == right,
        unscored_reason=None,
        reply="",
        letter_probabilities=choice.probabilities,
    )


def _build_conclude(max_checks: int) -> AsyncNode[ConsistencyState]:
    async def conclude(state: ConsistencyState) -> Update:
        found = DistractorSet.model_validate(state["distractor_set"])
        both = zip(state["planned"], state["asked"], strict=False)
        checks = [_check(number, planned, asked) for number, (planned, asked) in enumerate(both, 1)]
        result = conclusion(found, checks, n_planned=len(state["planned"]), max_checks=max_checks)
        return {"trust_bc": result.model_dump(mode="json")}

    return conclude


def _check(number: int, planned: QuestionPlan, asked: QuestionOutcome) -> ConsistencyCheck:
    fields = {name: value for name, value in asked.items() if name != "consistent"}
    return ConsistencyCheck.model_validate({"number": number, **planned, **fields})


def conclusion(found: DistractorSet, checks: Sequence[ConsistencyCheck], *, n_planned: int, max_checks: int) -> TrustBC:
    """TrustBC from the checks in the order in which they count.

    0 as soon as one choice is inconsistent; 1 if all planned checks are consistent. Where none is inconsistent and some
    choice could not be had, nothing is claimed: unscored, for the reason of the first of them.
    """
    end = next((check.number for check in checks if check.consistent is False), len(checks))
    counted = [check.model_copy(update={"counted": check.number <= end}) for check in checks]
    valid = [check for check in counted if check.counted]
    failed = [check for check in valid if check.chosen is None]
    n_inconsistent = sum(check.consistent is False for check in valid)
    value, reason, rationale = _verdict(found, valid, failed, n_inconsistent)
    mass = _mean(valid)
    return TrustBC(
        value=value,
        unscored_reason=reason,
        rationale=rationale,
        graded=_mean(valid, response_alone=True) if mass is not None and mass >= LEAST_MASS else None,
        letters_mass=mass,
        max_checks=max_checks,
        n_planned=n_planned,
        n_asked=len(checks),
        n_consistent=sum(check.consistent is True for check in valid),
        n_inconsistent=n_inconsistent,
        n_unscored=len(failed),
        checks=tuple(counted),
        distractors=found.distractors,
        notes=(*found.notes, *_shortage(len(found.distractors), n_planned, max_checks)),
    )


def _verdict(
    found: DistractorSet, valid: Sequence[ConsistencyCheck], failed: Sequence[ConsistencyCheck], n_inconsistent: int
) -> tuple[Any, UnscoredReason | None, str]:
    if n_inconsistent:
        return 0, None, f"Another option was chosen in check {valid[-1].number}."
    if not valid:
        said = f"Distractors made: {len(found.distractors)}; a question needs {DISTRACTORS_A_CHECK}."
        return None, UnscoredReason.TOO_FEW_DISTRACTORS, said
    if failed:
        first = failed[0]
        return None, first.unscored_reason, f"No choice in check {first.number}: {first.reply}"
    return 1, None, f"The response was chosen in every check ({len(valid)})."


def _mean(valid: Sequence[ConsistencyCheck], *, response_alone: bool = False) -> float | None:
    """Mean probability of the letters, or of the response's alone; None unless every check has probabilities."""
    if not valid:
        return None
    total = 0.0
    for check in valid:
        if check.letter_probabilities is None:
            return None
        shares = check.letter_probabilities
        total += shares.get(check.response_letter, 0.0) if response_alone else min(sum(shares.values()), 1.0)
    return total / len(valid)


def _shortage(n: int, n_planned: int, max_checks: int) -> list[str]:
    """A note where there were not three new distractors for every check."""
    if n_planned == 0 or n >= DISTRACTORS_A_CHECK * max_checks:
        return []
    notes = [f"{n} distractors for {n_planned} checks: some are shown again, in combinations not seen before."]
    if n_planned < max_checks:
        notes.append(
            f"Checks: {n_planned} in place of {max_checks}, as there are no more combinations of {n} distractors."
        )
    return notes if n < DISTRACTORS_A_CHECK * n_planned else notes[1:]
