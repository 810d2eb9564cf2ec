"""The items of every labelled data set as claims with a label, which verifiers score and the audit reads.

1 is attributable: wholly supported, as LLM-AggreFact counts (arXiv 2404.10774); partial support is 0. What has no such
label (irrelevant facts, claims nobody judged) is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.core.records import Record
from factloop.evaluation.datasets.expertqa import ExpertQaClaim
from factloop.evaluation.datasets.factcheckgpt import JudgedEvidence, Stance
from factloop.evaluation.datasets.factscore import FactLabel, FactScoreResponse
from factloop.evaluation.datasets.llm_aggrefact import AggreFactClaim
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.datasets.refchecker import RefCheckerResponse
from factloop.evaluation.datasets.registry import load_part
from factloop.evaluation.datasets.tofueval import TofuEvalSentence
from factloop.evaluation.datasets.wice import WiceClaim

_TASKS: Mapping[str, str] = {
    "expertqa": "long-form QA",
    "factcheckgpt": "LLM response verification",
    "factscore": "LLM response verification",
    "refchecker": "LLM response verification",
    "tofueval": "summarization",
    "wice": "Wikipedia verification",
}
"""Task groups of Godbole and Jia (section 4.1); FActScore and RefChecker, which they lack, stand with their like."""


def labelled_claims(name: str, part: str, place: str | Path) -> Iterator[LabelledClaim]:
    """The claims of one part, from its folder or from one file, one at a time.

    Raises ConfigError for a name that is none and for a data set without labelled claims, and DataError, when it gets
    there, for a malformed row.
    """
    for item in load_part(name, part, place):
        for claim in claims_of(item):
            yield claim.model_copy(update={"dataset": claim.dataset or name, "task": _TASKS.get(name)})


@singledispatch
def claims_of(item: Record) -> Iterator[LabelledClaim]:
    """The labelled claims that an item holds. Raises ConfigError for a kind of item that holds none."""
    raise ConfigError(f"a {type(item).__name__} holds no labelled claim")


@claims_of.register
def _(item: WiceClaim) -> Iterator[LabelledClaim]:
    yield LabelledClaim(id=item.id, claim=item.claim, document="\n".join(item.evidence), label=item.attributable)


@claims_of.register
def _(item: AggreFactClaim) -> Iterator[LabelledClaim]:
    yield LabelledClaim(id=item.id, dataset=item.dataset, claim=item.claim, document=item.doc, label=item.label)


@claims_of.register
def _(item: TofuEvalSentence) -> Iterator[LabelledClaim]:
    yield LabelledClaim(
        id=item.id,
        system=item.system,
        response_id=f"{item.doc_id}/{item.topic}/{item.system}",
        prompt_id=f"{item.doc_id}/{item.topic}",
        claim=item.sentence,
        label=item.label,
    )


@claims_of.register
def _(item: JudgedEvidence) -> Iterator[LabelledClaim]:
    yield LabelledClaim(
        id=item.id,
        system="ChatGPT",
        claim=item.claim,
        document=item.evidence,
        label=1 if item.label is Stance.COMPLETELY_SUPPORT else 0,
    )


@claims_of.register
def _(item: ExpertQaClaim) -> Iterator[LabelledClaim]:
    passages = [evidence.passage for evidence in item.evidence if evidence.passage]
    if item.attributable is not None:
        yield LabelledClaim(
            id=item.id,
            system=item.system,
            response_id=item.answer_id,
            prompt_id=item.question,
            claim=item.claim,
            document="\n\n".join(passages) or None,
            label=item.attributable,
        )


@claims_of.register
def _(item: FactScoreResponse) -> Iterator[LabelledClaim]:
    """Each text once; irrelevant facts are passed over, as FActScore's precision does."""
    for place, fact in enumerate(item.distinct_facts):
        if fact.label is not FactLabel.IRRELEVANT:
            yield LabelledClaim(
                id=f"{item.id}/{place}",
                system=item.system,
                response_id=item.id,
                prompt_id=item.topic,
                claim=fact.text,
                label=1 if fact.label is FactLabel.SUPPORTED else 0,
            )


@claims_of.register
def _(item: RefCheckerResponse) -> Iterator[LabelledClaim]:
    for place, triplet in enumerate(item.triplets):
        yield LabelledClaim(
            id=f"{item.id}/{place}",
            system=item.system,
            response_id=item.id,
            prompt_id=f"{item.setting}/{item.prompt_id}",
            claim=triplet.claim,
            label=triplet.attributable,
        )
