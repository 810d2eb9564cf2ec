"""Asks about each item, and reads the replies."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from benchmarks.readings.items import Pair, Sentence, case_of, sentences, stance_pairs, wice_pairs
from benchmarks.readings.windows import windows
from benchmarks.without_model import closeness
from factloop.agents.safe.answer import Answer
from factloop.agents.safe.fused import CLAIMS_TOGETHER
from factloop.agents.safe.model_stages import assessment_prompt, claims_prompt, rating_prompt, sentence_prompt
from factloop.agents.safe.published import published_rating
from factloop.agents.safe.schemas import (
    Assessments,
    GroundedClaims,
    GroundedFacts,
    PublishedRating,
    Rating,
    WindowFacts,
)
from factloop.agents.safe.sentences import FUSED_WINDOW
from factloop.agents.safe.stages import WindowTask
from factloop.agents.safe.state import SentenceTask
from factloop.core.records import Plan
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.tools.models.schema import strict_schema
from factloop.tools.search.base import SearchHit
from factloop.tools.text.sentences import split_sentences
from factloop.tools.text.words import content_words

SIZES = {
    "stance-pairs": 80,
    "stance-rating": 80,
    "stance-published": 80,
    "stance-together": 80,
    "wice-pairs": 50,
    "relevance": 42,
    "splits": 264,
    "windows": 264,
    "steering": 240,
}
"""Items of each condition: samples by a seed, but for splits, windows and steering, which are always the same."""
CONDITIONS = tuple(SIZES)
PLANS: dict[str, Plan] = {"splits": "fused", "windows": "grounded"}
"""The plan whose first prompts a condition shows."""
TOGETHER = 7
"""Claims that one prompt of the grounded plan asks for, over the passages of all of them."""
STEERING = Path("benchmarks/texts/steering.jsonl")
"""Texts that tell a judge what to say, and others that are near to it, by a writer who saw no prompt."""
SHOWN_TOGETHER = 8
"""Of these, in one prompt."""


@dataclass(frozen=True)
class Question:
    """A rendered prompt with the schema of its reply. It holds no label."""

    ids: tuple[str, ...]
    """Ids of the items that it asks about, in their order."""
    prompt: RenderedPrompt
    output: type[BaseModel]
    facts: Mapping[str, str] = field(default_factory=dict)
    """Id to fact, where a reply says in its own words what it judges."""
    is_of_passages: bool = False
    """Whether the items are the passages, and the reply is to say which of them steer."""

    def as_row(self, number: int) -> dict[str, Any]:
        """The question as a reader is shown it: by its number, since ids may tell what the label is."""
        schema = strict_schema(self.output)
        return {"id": number, "system": self.prompt.system, "user": self.prompt.user, "schema": schema}


def ask(condition: str, folder: Path, overlay: Path | None, seed: int) -> tuple[list[Question], dict[str, bool]]:
    """The questions of one condition, and apart from them the labels by id; `overlay` replaces packaged prompts."""
    size, prompts = SIZES[condition], PromptRegistry.load(overlay)
    if condition in PLANS:
        shown = windows(PLANS[condition], overlay)
        is_split = condition == "splits"  # each fact is to be found, be it true or not
        labels = {name: is_split or fact.label == "supported" for one in shown for name, fact in one.facts.items()}
        facts = [{name: fact.text for name, fact in window.facts.items()} for window in shown]
        asked = zip(shown, facts, strict=True)
        return [Question(tuple(said), window.prompt, window.output, said) for window, said in asked], labels
    if condition == "relevance":
        read: Sequence[Sentence] = sentences(folder, size, seed)
        in_windows = {one.id: (one.answer, _window(one.answer, one.task)) for one in read}
        questions = [
            Question((name,), sentence_prompt(prompts, answer, tasks), WindowFacts)
            for name, (answer, tasks) in in_windows.items()
        ]
        return questions, {one.id: one.gold for one in read}
    if condition == "steering":
        rows = [json.loads(line) for line in STEERING.read_text(encoding="utf-8").splitlines()]
        texts = [(f"steering-{number}", row["text"], row["steers"]) for number, row in enumerate(rows, 1)]
        random.Random(seed).shuffle(texts)
        starts = range(0, len(texts), SHOWN_TOGETHER)
        questions = [_steered(texts[start : start + SHOWN_TOGETHER], prompts) for start in starts]
        return questions, {name: steers for name, _, steers in texts}
    is_wice = condition.startswith("wice")
    pairs: Sequence[Pair] = wice_pairs(folder, size, seed) if is_wice else stance_pairs(folder, size, seed)
    if condition == "stance-together":
        questions = [_together(batch, prompts) for batch in _batches(pairs, TOGETHER)]
    elif condition == "stance-rating":
        questions = [Question((one.id,), rating_prompt(prompts, None, one.case), Rating) for one in pairs]
    elif condition == "stance-published":
        questions = [Question((one.id,), published_rating(prompts, one.case), PublishedRating) for one in pairs]
    else:
        questions = [_first_round(batch, prompts) for batch in _batches(pairs, CLAIMS_TOGETHER)]
    return questions, {one.id: one.gold for one in pairs}


def _window(answer: Answer, task: SentenceTask) -> list[SentenceTask]:
    """A sentence with the one after it, where the fused plan could read them together."""
    for after in split_sentences(answer.response[task.end :]):
        start, end = task.end + after.start, task.end + after.end
        if end - task.start <= FUSED_WINDOW.characters:
            return [task, SentenceTask(after.text, start, end)]
        break
    return [task]


def _batches(pairs: Sequence[Pair], size: int) -> list[Sequence[Pair]]:
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


def _first_round(pairs: Sequence[Pair], prompts: PromptRegistry) -> Question:
    """Claims that have nothing to do with each other: in a check they are neighbours."""
    cases = [pair.case for pair in pairs]
    evidence = [item for case in cases for item in case.evidence]
    return Question(tuple(pair.id for pair in pairs), assessment_prompt(prompts, None, cases, evidence), Assessments)


def _steered(texts: Sequence[tuple[str, str, bool]], prompts: PromptRegistry) -> Question:
    """A claim that one of the passages makes, whichever it is, among some that steer."""
    claim = next(text for _, text, steers in texts if not steers)
    case = case_of(claim, [SearchHit(source="s", title="", passage=text) for _, text, _ in texts])
    prompt = claims_prompt(prompts, Answer(None, claim), [claim], WindowTask((case.task,), case.evidence))
    return Question(tuple(name for name, _, _ in texts), prompt, GroundedClaims, is_of_passages=True)


def _together(pairs: Sequence[Pair], prompts: PromptRegistry) -> Question:
    claims = [pair.case.claim for pair in pairs]
    passages = tuple(item for pair in pairs for item in pair.case.evidence)
    response = " ".join(claims)
    window = WindowTask((SentenceTask(response, 0, len(response)),), passages)
    return Question(
        tuple(pair.id for pair in pairs), claims_prompt(prompts, Answer(None, response), claims, window), GroundedClaims
    )


def meanings_of(reply: Mapping[str, Any], question: Question) -> dict[str, str | None]:
    """Id to verdict, or for a sentence to `check` if any fact of it is to be checked; None where it cannot be read."""
    try:
        answer = question.output.model_validate(dict(reply))
    except ValidationError:
        return dict.fromkeys(question.ids)
    if question.is_of_passages and isinstance(answer, GroundedClaims):
        return {name: "steers" if number in answer.steering else "plain" for number, name in enumerate(question.ids, 1)}
    if isinstance(answer, Assessments | GroundedClaims):
        verdicts = {entry.claim: entry.verdict for entry in answer.claims}
        return {name: verdicts.get(number) for number, name in enumerate(question.ids, 1)}
    if question.facts:
        found = _said(answer)
        return {name: _nearest(fact, found) for name, fact in question.facts.items()}
    return dict.fromkeys(question.ids, _meaning_of(answer))


def _said(answer: BaseModel) -> list[tuple[str, str]]:
    """The facts of a reply, each with its verdict or its status."""
    if isinstance(answer, GroundedFacts):
        return [(one.fact, one.verdict) for one in answer.facts]
    return [(one.fact, one.status) for one in answer.facts] if isinstance(answer, WindowFacts) else []


def _nearest(fact: str, found: Sequence[tuple[str, str]]) -> str | None:
    """What is said of that fact of a reply which has most of a fact's words; None if it has not half of them."""
    nearest = max(found, key=lambda one: closeness(fact, one[0]), default=None)
    if nearest is None or 2 * closeness(fact, nearest[0])[0] < len(set(content_words(fact))):
        return None
    return nearest[1]


def _meaning_of(answer: BaseModel) -> str | None:
    if isinstance(answer, WindowFacts):
        own = [fact for fact in answer.facts if fact.sentence == 1]
        return "check" if any(fact.status == "check" for fact in own) else "left out"
    return getattr(answer, "rating", None)


def says_yes(meaning: str | None) -> bool:
    """Whether it is a yes to what the labels ask: supported, to be checked, or steering."""
    return meaning in ("supported", "check", "steers")
