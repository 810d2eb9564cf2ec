"""Judges whether passages support an answer, with a chat model or a verifier (an NLI encoder or the offline rater)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factloop.agents.shown import as_shown, document_numbers
from factloop.agents.trustscore.records import Relation
from factloop.agents.trustscore.schemas import Entailment
from factloop.agents.trustscore.stages import PassageJudgement
from factloop.core.extras import is_installed
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import Label, Verifier
from factloop.tools.models.gateway import ModelGateway

ENTAILMENT = "trustscore/entailment"
JUDGE_PROMPTS = (ENTAILMENT,)
JUDGE = "entailment"
SHORT_ANSWER_WORDS = 4
"""Answers of at most this many words are combined with their question, because they say little on their own."""

_RELATION: Mapping[Label, Relation] = {
    "supported": Relation.SUPPORT,
    "contradicted": Relation.CONTRADICT,
    "insufficient": Relation.NEUTRAL,
}

_OF_PLACE_OR_TIME = re.compile(
    r"when|where|in |on |at |(?:what|which) (?:year|month|day|date|century|decade)", re.IGNORECASE
)
_ASKED_FOR = frozenset({"when", "where", "what", "which", "who", "whom", "in", "on", "at", "from"})


@dataclass(frozen=True)
class ModelJudge:
    """Judges with a chat model (paper, appendix A.5.2)."""

    gateway: ModelGateway
    prompts: PromptRegistry

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    async def judge(
        self, question: str, answer: str, passages: Sequence[Evidence], *, meter: UsageMeter
    ) -> PassageJudgement:
        shown = [as_shown(item) for item in passages]
        prompt = self.prompts[ENTAILMENT].render(question=question, answer=answer, passage=shown)
        found = await self.gateway.ask_for(prompt, Entailment, stage=JUDGE, meter=meter)
        cited = tuple(dict.fromkeys(number - 1 for number in found.cited if 1 <= number <= len(passages)))
        return PassageJudgement(Relation(found.relation), found.rationale, cited)


@dataclass(frozen=True)
class VerifierJudge:
    """Judges with a verifier, free of charge. A short answer and its question are turned into a statement first."""

    verifier: Verifier

    @property
    def name(self) -> str:
        return self.verifier.name

    async def judge(
        self,
        question: str,
        answer: str,
        passages: Sequence[Evidence],
        *,
        meter: UsageMeter,  # noqa: ARG002 - nothing to charge
    ) -> PassageJudgement:
        claim = answer if len(answer.split()) > SHORT_ANSWER_WORDS else statement_of(question, answer)
        texts = [item.passage for item in passages]
        found = await asyncio.to_thread(self.verifier.verify, claim, texts, document_numbers(passages))
        is_unsure = found.label == "insufficient" and self.verifier.abstains and bool(found.cited)
        return PassageJudgement(None if is_unsure else _RELATION[found.label], found.rationale, found.cited)


def statement_of(question: str, answer: str) -> str:
    """Combines a question with its answer: *When did Voss die?* and *1958* become *Voss did die in 1958.*

    The two are concatenated if the question has another form, or if the `offline` extra is not installed.
    """
    asked, said = question.strip().rstrip("?. "), answer.strip().rstrip(".")
    if not asked or asked.split()[0].lower().removesuffix("'s") not in _ASKED_FOR or not is_installed("offline"):
        return f"{question} {answer}"
    from factloop.tools.text.pipeline import load_pipeline, parse

    doc = parse(f"{asked}?", load_pipeline())[:-1]
    verb = next((token for token in doc if token.pos_ in {"AUX", "VERB"}), None)
    subjects = [token for token in doc if token.dep_ in {"nsubj", "nsubjpass"}]
    if verb is None or not subjects:
        return f"{question} {answer}"
    subject = next((one for one in subjects if one.left_edge.i > verb.i), subjects[0])
    if subject.left_edge.i < verb.i:  # *Who wrote it?*
        return f"{said} {doc[verb.i :].text}."
    start, end = subject.left_edge.i, subject.right_edge.i + 1
    rest = f" {doc[end:].text}" if end < len(doc) else ""
    auxiliary = "is" if verb.text == "'s" else verb.text
    return f"{doc[start:end].text} {auxiliary}{rest} {_placed(asked, said)}."


def _placed(asked: str, answer: str) -> str:
    has_one = re.match(r"(?:in|on|at|from|near|by|since|until|before|after|during) ", answer, re.IGNORECASE)
    return f"in {answer}" if _OF_PLACE_OR_TIME.match(asked) and not has_one else answer
