"""The prompts of the model's stages, rendered from what a stage is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from factloop.agents.safe.equal_sentences import told_apart_by
from factloop.agents.safe.excerpts import whole_or_excerpt
from factloop.agents.safe.stages import Case, SentenceTask, WindowTask
from factloop.agents.shown import as_shown
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry, RenderedPrompt

SENTENCE_CHARACTERS = 2_000
"""Characters of a given sentence; those that are split here are no longer."""
ANSWER_CHARACTERS = 6_000
"""Characters of the answer as prompts show it; of one that is clearly longer an excerpt (`excerpts`)."""


def sentence_prompt(prompts: PromptRegistry, tasks: Sequence[SentenceTask]) -> RenderedPrompt:
    """The prompt on neighbouring sentences in the fused plan; headings and excerpt are those of the first.

    Where the response has the first elsewhere, too, what stands before it is the last line of its headings.
    """
    first = tasks[0]
    return prompts["safe/sentence_facts"].render(
        question=first.prompt or None,
        answer=shown_answer(replace(first, end=tasks[-1].end)),
        above="\n".join(filter(None, (first.above, told_apart_by(first)))) or None,
        sentence=[task.sentence for task in tasks],
    )


def assessment_prompt(prompts: PromptRegistry, case: Case) -> RenderedPrompt:
    """The prompt on one claim in the fused plan."""
    return prompts["safe/assessment"].render(
        question=case.task.prompt or None,
        sentence=stated(case.task),
        claim=case.claim,
        evidence=passages(case.evidence),
        asked=case.queries,
        fruitless=case.fruitless,
        left=str(case.searches_left),
    )


def assessments_prompt(prompts: PromptRegistry, cases: Sequence[Case], evidence: Sequence[Evidence]) -> RenderedPrompt:
    """The same prompt on several claims at once."""
    return prompts["safe/assessment"].render(
        question=cases[0].task.prompt or None,
        sentence=list(dict.fromkeys(stated(case.task) for case in cases)),
        claim=[case.claim for case in cases],
        evidence=passages(evidence),
        asked=list(dict.fromkeys(query for case in cases for query in case.queries)),
        fruitless=list(dict.fromkeys(query for case in cases for query in case.fruitless)),
        left=str(max(case.searches_left for case in cases)),
    )


def rating_prompt(prompts: PromptRegistry, case: Case) -> RenderedPrompt:
    """The prompt on one claim at the end of the paper's plan."""
    return prompts["safe/rating"].render(
        question=case.task.prompt or None,
        sentence=stated(case.task),
        fact=case.claim,
        evidence=passages(case.evidence),
    )


def claims_prompt(prompts: PromptRegistry, claims: Sequence[str], window: WindowTask) -> RenderedPrompt:
    """The prompt on several claims at once in the grounded plan."""
    return prompts["safe/grounded_claims"].render(
        passage=passages(window.passages),
        question=window.prompt or None,
        answer=shown_answer(window.sentences[0]),
        claim=claims,
    )


def passages(evidence: Sequence[Evidence]) -> list[str]:
    """The evidence as the model reads it, in the order in which it is numbered."""
    return [as_shown(item) for item in evidence]


def shown_answer(task: SentenceTask, most: int = ANSWER_CHARACTERS) -> str:
    """The whole answer, as far as prompts hold it, so that requests about one answer begin alike."""
    return whole_or_excerpt(task.response, task.start, task.end, most=most)


def in_context(task: SentenceTask) -> str:
    """A sentence whose facts are known, after what tells it from an equal one elsewhere in the response."""
    return "\n".join(filter(None, (told_apart_by(task), task.sentence[:SENTENCE_CHARACTERS])))


def stated(task: SentenceTask) -> str:
    """A sentence as a judge reads it who has not seen the rest: under its headings, or the head of its table."""
    sentence = task.sentence[:SENTENCE_CHARACTERS]
    return f"{task.above}\n{sentence}" if task.above else sentence


_ROW_END = re.compile(r"\A[ \t]*\|[ \t]*(?=\r?\n)")
"""The end of a table row's line, which is no part of the sentence after it."""


def in_place(window: WindowTask) -> list[str]:
    """The sentences of a window, each with what stands in the answer between it and the one before."""
    reached = window.sentences[0].start
    texts: list[str] = []
    for sentence in window.sentences:
        texts.append(_ROW_END.sub("", window.response[reached : sentence.end]).strip() or sentence.sentence)
        reached = max(reached, sentence.end)
    return texts
