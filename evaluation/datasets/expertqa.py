"""Loads ExpertQA: claims from six systems' answers, judged by experts in 32 fields (Malaviya et al. 2024, arXiv
2309.07852).

In the published layout, each line is a question with several systems' `answers` and the `claims` in each answer.
Evidence is a string with a number, a URL and often a passage. In the other layout, each line is a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, load_items
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import LabelledClaim

_ADDRESS = re.compile(r"\s*(?:\[\d+\]\s*)?https?://\S+")


class Support(StrEnum):
    """Whether the evidence that a system cites supports its claim."""

    COMPLETE = "Complete"
    PARTIAL = "Partial"
    INCOMPLETE = "Incomplete"
    MISSING = "Missing"
    NOT_APPLICABLE = "N/A"


class CitedEvidence(Record):
    model_config = ConfigDict(extra="ignore")

    passage: str | None
    """None if the system cites only a URL."""


class ExpertQaClaim(TableItem):
    answer_id: NotBlank
    system: NotBlank
    question: NotBlank
    claim: NotBlank
    evidence: tuple[CitedEvidence, ...]
    support: Support | None
    """None if the expert gave no judgement."""

    @property
    def attributable(self) -> Literal[0, 1] | None:
        """1 if the cited evidence supports the claim completely, or 0 if it supports it partly or not at all.

        None if there is no judgement, if support does not apply, or if no evidence is cited. LLM-AggreFact does not say
        how it treats `Partial`. With 0, the claim-level rates of all six systems are within two standard errors
        (clustered by response) of Table 21 of Godbole & Jia. With 1, four rates would be closer, but that of
        `bing_chat` would be too low (9.8% instead of 16.7%, z = -2.1). Our sample differs from the paper's
        (`docs/papers.md`).
        """
        if self.support in (None, Support.NOT_APPLICABLE, Support.MISSING):
            return None
        return 1 if self.support is Support.COMPLETE else 0

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        passages = [evidence.passage for evidence in self.evidence if evidence.passage]
        if self.attributable is not None:
            yield LabelledClaim(
                id=self.id,
                system=self.system,
                response_id=self.answer_id,
                prompt_id=self.question,
                claim=self.claim,
                document="\n\n".join(passages) or None,
                label=self.attributable,
            )


def load_expertqa(place: str | Path) -> Iterator[ExpertQaClaim]:
    """Raises DataError during iteration if a row is malformed."""
    return load_items([place], ExpertQaClaim, _claims)


def passage_of(evidence: str) -> str | None:
    """Extracts the passage from a string such as `[4] https://… passage`. Without a URL, the string is the passage."""
    return _ADDRESS.sub("", evidence, count=1).strip() or None


def _claims(row: Row) -> Iterator[Row]:
    if "answers" not in row.fields:
        yield row
        return
    for system, answer in _object(row, row.fields["answers"], "answers").items():
        at = f"answers.{system}"
        claims = _object(row, answer, at).get("claims") or []
        if not isinstance(claims, list):
            raise row.error("must be a list", f"{at}.claims")
        for place, claim in enumerate(claims):
            given = _object(row, claim, f"{at}.claims[{place}]")
            yield row.renamed(_claim(row, system, place, given), {"claim": f"{at}.claims[{place}].claim_string"})


def _object(row: Row, value: object, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise row.error("must be an object", field)
    return value


def _claim(row: Row, system: str, place: int, claim: Mapping[str, Any]) -> dict[str, Any]:
    answer = f"expertqa-{row.line - 1:04}-{system}"
    evidence = claim.get("evidence") or []
    if isinstance(evidence, list):
        evidence = [{"passage": passage_of(one)} if isinstance(one, str) else one for one in evidence]
    return {
        "id": f"{answer}-c{place:02}",
        "answer_id": answer,
        "system": system,
        "question": row.fields.get("question"),
        "claim": claim.get("claim_string"),
        "evidence": evidence,
        "support": claim.get("support"),
    }
