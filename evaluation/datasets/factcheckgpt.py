"""Factcheck-GPT: ChatGPT's answers taken apart and checked by people (Wang et al. 2024, arXiv 2311.09000).

Four of its steps, each JSON Lines: sentences with their claims, whether a sentence and whether a claim is worth
checking, and the stance of evidence towards a claim. Both our column names and the published ones (`checkworthy`,
`stance`) are read; the claims of sentences also from the published benchmark file, one answer a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, load_items
from factloop.evaluation.datasets.mapping import LabelledClaim

_THEIR_LABELS = ("checkworthy", "stance")
_FILE_NAMES = {
    "sentence": "text",
    "decontextualised": "decontext",
    "checkworthiness": "sentence_checkworthiness",
}


class SentenceWorth(StrEnum):
    YES = "yes"
    """It states something that can be checked."""
    OPINION = "opinion"
    NOT_A_CLAIM = "not_a_claim"
    OTHER = "other"


class ClaimWorth(StrEnum):
    FACTUAL = "factual"
    OPINION = "opinion"
    NOT_A_CLAIM = "not_a_claim"
    OTHER = "other"


class Stance(StrEnum):
    COMPLETELY_SUPPORT = "completely-support"
    PARTIALLY_SUPPORT = "partially-support"
    REFUTE = "refute"
    IRRELEVANT = "irrelevant"


class DecomposedSentence(TableItem):
    prompt: str
    sentence: NotBlank
    decontextualised: str
    """The sentence so that it can be read alone; blank for two sentences that say nothing."""
    checkworthiness: SentenceWorth
    claims: tuple[NotBlank, ...]
    """None for a sentence that was not worth checking."""


class JudgedSentence(TableItem):
    sentence: NotBlank
    label: SentenceWorth


class AnnotatedClaim(TableItem):
    claim: NotBlank
    label: ClaimWorth


class JudgedEvidence(TableItem):
    claim: NotBlank
    evidence: str
    url: str | None = None
    label: Stance

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        yield LabelledClaim(
            id=self.id,
            system="ChatGPT",
            claim=self.claim,
            document=self.evidence,
            label=1 if self.label is Stance.COMPLETELY_SUPPORT else 0,
        )


def load_decomposition(place: str | Path) -> Iterator[DecomposedSentence]:
    """Sentences with their claims. Raises DataError, when it gets there, for a malformed row."""
    return load_items([place], DecomposedSentence, _sentences)


def load_sentence_checkworthiness(place: str | Path) -> Iterator[JudgedSentence]:
    """Sentences with their labels. Raises DataError, when it gets there, for a malformed row."""
    return load_items([place], JudgedSentence, _rename_fields)


def load_claim_checkworthiness(place: str | Path) -> Iterator[AnnotatedClaim]:
    """Claims with their labels. Raises DataError, when it gets there, for a malformed row."""
    return load_items([place], AnnotatedClaim, _rename_fields)


def load_stance(place: str | Path) -> Iterator[JudgedEvidence]:
    """Claims with a passage and its stance; a few pairs occur twice, with labels that disagree.

    Raises DataError, when it gets there, for a malformed row.
    """
    return load_items([place], JudgedEvidence, _rename_fields)


def _rename_fields(row: Row) -> tuple[Row]:
    theirs = next((name for name in _THEIR_LABELS if name in row.fields), None)
    if theirs is None:
        return (row,)
    return (row.renamed({**row.fields, "label": row.fields[theirs]}, {"label": theirs}),)


def _sentences(row: Row) -> Iterator[Row]:
    """The sentences of an answer (`sentences`: {"sentence1": {...}}), or the sentence that the row is."""
    sentences = row.fields.get("sentences")
    if sentences is None:
        yield row
        return
    if not isinstance(sentences, Mapping):
        raise row.error("an object is needed", "sentences")
    for place, (name, sentence) in enumerate(sentences.items()):
        if not isinstance(sentence, Mapping):
            raise row.error("an object is needed", f"sentences.{name}")
        yield row.renamed(_sentence(row, place, sentence), _FILE_NAMES)


def _sentence(row: Row, place: int, sentence: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"factcheckgpt-{row.line - 1:03}-s{place}",
        "prompt": row.fields.get("prompt"),
        "sentence": sentence.get("text"),
        "decontextualised": sentence.get("decontext"),
        "checkworthiness": sentence.get("sentence_checkworthiness"),
        "claims": sentence.get("claims"),
    }
