"""A verifier of small statistics: no network, no key, no model needed, and every verdict can be traced to a sentence.

The best three sentences in a row are laid beside the claim (`alignment`), and checks look for what they have otherwise:
another figure, a denial, another quantity, other roles (`checks`). A mismatch refuses support; a logistic model over
the agreement of words (`features`), with an embedding model also over meaning, weighs the rest. It reads no syntax
beyond clauses. A baseline, and measured as one (`python -m benchmarks.offline_accuracy`, `benchmarks.minimal_pairs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from factloop.tools.linguistics.markup import without_citations
from factloop.tools.verifiers import grounds
from factloop.tools.verifiers.addresses import missing_address
from factloop.tools.verifiers.amounts import in_other_units
from factloop.tools.verifiers.base import Label, SupportReading
from factloop.tools.verifiers.bounds import as_amounts, as_figures, keeps_bound, within_limits
from factloop.tools.verifiers.checks.all import contradicts, find_mismatch
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.said_of import is_of_another
from factloop.tools.verifiers.clocks import in_other_times
from factloop.tools.verifiers.coefficients import load_coefficients
from factloop.tools.verifiers.ellipses import as_written, both_clauses, without_ellipses
from factloop.tools.verifiers.features import FEATURES, ClaimComparison, compare
from factloop.tools.verifiers.gaps import find_gap
from factloop.tools.verifiers.labelled import verify_names
from factloop.tools.verifiers.numbered import of_numbered
from factloop.tools.verifiers.passage_index import index_passage, index_with_numbering
from factloop.tools.verifiers.prohibitions import verify_prohibition
from factloop.tools.verifiers.rows import of_subject, verify_answer, verify_row, without_columns
from factloop.tools.verifiers.rows_asked import verify_comparison, verify_value
from factloop.tools.verifiers.single_values import OtherValue, find_other_value
from factloop.tools.verifiers.terms import read_sentences

if TYPE_CHECKING:  # the folder needs numpy, which is not needed without embeddings
    from factloop.tools.embeddings.base import Embedder

THRESHOLD = 0.5
EMBEDDING_FEATURES = ("cosine_sentence", "cosine_window")

_NUMBERED = re.compile(
    r"\b(?:article|chapter|clause|item|level|number|no\.|paragraph|part|phase|point|release|rule|section|stage|step"
    r"|version)\s*\d|§",
    re.IGNORECASE,
)
"""What a claim says where the number of a heading, an item or a clause is the point of it."""

MOST_OTHERWISE = 0.2
"""Score at most of a claim whose relation has another value in the sources."""
MAX_CITED = 3
MIN_SHARE_CITED = 0.34
"""A passage is cited that holds at least this share of the claim in one window."""


class LexicalVerifier:
    """Judges by agreement of words, and of meaning where an embedding model is given; a mismatch refuses support.

    Its score is a calibrated probability of support, at even odds. Safe to share between threads. Costs no money;
    without `embedder` some thousand claims a second over passages it has seen before, with it one call of
    `embedder.encode` a claim.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._coefficients = load_coefficients("words" if embedder is None else "words_and_embeddings")

    @property
    def name(self) -> str:
        return "lexical" if self._embedder is None else f"lexical+{self._embedder.name}"

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        claim = without_citations(claim)  # the mark [3] of a claim from outside would be a figure that no source has
        whole, spoken = without_ellipses(passages)
        reads = [self._verify(part, whole, documents) for part in both_clauses(claim) or [claim]]
        read = as_written(min(reads, key=_doubt), spoken, claim, passages)
        lost = missing_address(claim, passages) if read.label == "supported" else ""
        return _without_address(read, lost) if lost else read

    def _verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None) -> SupportReading:
        by_row, cells = _by_form(claim, passages), without_columns(claim)
        if by_row is not None:
            return by_row
        of_all = of_subject(claim, passages)
        passages = of_numbered(claim, of_all)
        read = self._verify_text(claim, passages, documents)
        if read.label == "insufficient" and list(passages) != list(of_all):
            of_others = self._verify_text(claim, of_all, documents)  # it says of whom the evidence speaks
            read = of_others if of_others.label == "insufficient" else read
        other = None if read.label == "contradicted" else find_other_value(claim, passages)
        if other is not None:
            return _contradicted(read, other)
        if read.label == "supported":
            return read
        others = _in_other_words(claim, passages) if cells is None else iter([cells])
        said_so = (self._verify_text(other, passages, documents) for other in others)
        kept = read.label == "contradicted" and keeps_bound(claim, read.instead, read.quote)
        unsaid = _within_bound(read) if kept else read
        return next((other for other in said_so if other.label == "supported"), unsaid)

    def _verify_text(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None) -> SupportReading:
        comparison = compare_texts(claim, passages, documents)
        if comparison is None:
            return SupportReading("insufficient", 0.0, (), grounds.NOTHING_FOUND)
        mismatch, gap = refusing_mismatch(comparison), find_gap(comparison)
        refused = mismatch is not None or bool(gap) or _holds_too_little(comparison)
        score = self._coefficients.score(agreement(claim, comparison, self._embedder), refused=refused)
        first = comparison.shares[0][0]
        passage = passages[first]
        label: Label = "supported" if score >= THRESHOLD else "insufficient"
        if mismatch is not None and contradicts(comparison.alignment, mismatch):
            label, told = "contradicted", grounds.for_contradiction(comparison.alignment, mismatch, passage)
        elif mismatch is not None and not is_of_another(comparison.alignment, mismatch):
            told = grounds.for_mismatch(comparison.alignment, mismatch, passage)
        elif label == "supported":
            told = grounds.for_support(comparison, passage)
        else:
            told = grounds.for_nothing(comparison, gap, passage)
        if _holds_too_little(comparison):
            return SupportReading(label, score, (), told.rationale)
        others = [passage for passage, share in comparison.shares[1:] if share >= MIN_SHARE_CITED]
        cited = (first, *others)[:MAX_CITED]
        return SupportReading(label, score, cited, told.rationale, told.quote, told.wrong, told.instead)


def _by_form(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What rows of tables, labels of forms and prohibitions say of a claim; None where they do not decide it."""
    readers = (verify_row, verify_answer, verify_comparison, verify_value, verify_names, verify_prohibition)
    return next((read for verify in readers if (read := verify(claim, passages)) is not None), None)


def _doubt(read: SupportReading) -> tuple[bool, bool, float]:
    """The order of readings of the clauses of one claim: it holds no more than the one that holds least."""
    return read.label != "contradicted", read.label == "supported", read.score


def _in_other_words(claim: str, passages: Sequence[str]) -> Iterator[str]:
    """The claim with a figure of the passages that keeps its bound, a limit it keeps, or amounts in their words."""
    forms = (as_figures, as_amounts, in_other_units, in_other_times, within_limits)
    return chain.from_iterable(in_form(claim, passages) for in_form in forms)


def _within_bound(read: SupportReading) -> SupportReading:
    """The reading of a claim whose bound the figure of the sources keeps, where they do not say all of it."""
    rationale = f"No one sentence of the sources says all of this. The nearest says: “{read.quote}”"
    return replace(read, label="insufficient", rationale=rationale, wrong="", instead="")


def _without_address(read: SupportReading, address: str) -> SupportReading:
    """The reading of a claim with an address that the sources do not have."""
    rationale = f'No sentence of the sources has "{address}". The nearest says: “{read.quote}”'
    return replace(read, label="insufficient", score=min(read.score, MOST_OTHERWISE), rationale=rationale)


def _contradicted(read: SupportReading, other: OtherValue) -> SupportReading:
    """The reading of a claim whose relation the sources fill with another value."""
    rationale = f'The source says "{other.instead}", the claim "{other.wrong}": “{other.sentence}”'
    cited = tuple(dict.fromkeys((other.passage, *read.cited)))[:MAX_CITED]
    score = min(read.score, MOST_OTHERWISE)
    return SupportReading("contradicted", score, cited, rationale, other.sentence, other.wrong, other.instead)


def is_refused(comparison: ClaimComparison) -> bool:
    """Whether a mismatch or a gap refuses support, or no passage holds enough of the claim to be cited for it."""
    return refusing_mismatch(comparison) is not None or bool(find_gap(comparison)) or _holds_too_little(comparison)


def _holds_too_little(comparison: ClaimComparison) -> bool:
    return comparison.shares[0][1] < MIN_SHARE_CITED


def refusing_mismatch(comparison: ClaimComparison) -> Mismatch | None:
    """The mismatch with the best window; None for another date where the claim's stands elsewhere."""
    mismatch = find_mismatch(comparison.alignment)
    if mismatch is None or mismatch.kind != "date":
        return mismatch
    missing = {term.key for term in comparison.missing()}
    return mismatch if comparison.alignment.claim.terms[mismatch.claimed[0]].key in missing else None


def compare_texts(
    claim: str, passages: Sequence[str], documents: Sequence[int] | None = None
) -> ClaimComparison | None:
    """The comparison of a claim with passages of documents as text; None where they share no content."""
    of = range(len(passages)) if documents is None else documents
    index = index_with_numbering if _NUMBERED.search(claim) else index_passage
    return compare(read_sentences(claim), [index(passage) for passage in passages], of)


def agreement(claim: str, comparison: ClaimComparison, embedder: Embedder | None) -> dict[str, float]:
    """The features of a comparison by name; with an embedding model also the cosines, negative ones taken as 0."""
    features = dict(zip(FEATURES, comparison.features, strict=True))
    if embedder is not None:
        vectors = embedder.encode(texts_to_embed(claim, comparison))
        to_window, *to_sentences = (vectors[1:] @ vectors[0]).tolist()
        features["cosine_sentence"] = max(0.0, *to_sentences)
        features["cosine_window"] = max(0.0, to_window)
    return features


def texts_to_embed(claim: str, comparison: ClaimComparison) -> list[str]:
    """The claim, the best window, then the candidate sentences."""
    window = " ".join(sentence.text.strip() for sentence in comparison.window)
    return [claim, window, *(sentence.text.strip() for sentence in comparison.candidates)]
