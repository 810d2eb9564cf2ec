"""A verifier of small statistics: no network, no key, no model needed, and every verdict can be traced to words.

A logistic model over the agreement of words, names, figures and negations (`features`), with an embedding model also
over meaning. It reads no syntax: who did what to whom is beyond it, and so is arithmetic. A baseline, and measured as
one (`python -m benchmarks.offline_accuracy`).
"""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.embeddings.base import Embedder
from factloop.tools.verifiers.base import Label, SupportReading
from factloop.tools.verifiers.coefficients import load_coefficients
from factloop.tools.verifiers.conflict import find_conflict
from factloop.tools.verifiers.doubts import find_doubt, lacks_essential
from factloop.tools.verifiers.features import FEATURES, ClaimComparison, compare
from factloop.tools.verifiers.passage_index import index_passage
from factloop.tools.verifiers.terms import CONTENT, FIGURES, Term, TermKind, read_sentences

THRESHOLD = 0.5
EMBEDDING_FEATURES = ("cosine_sentence", "cosine_window")

MAX_CITED = 3
MIN_SHARE_CITED = 0.34
"""A passage is cited that holds at least this share of the claim in one window."""
MAX_NAMED = 6
"""Words named in a rationale, of each sort."""

NOTHING_FOUND = "no word of the claim stands in the evidence"


class LexicalVerifier:
    """Judges by agreement of words, names, figures and negations, and of meaning where an embedding model is given.

    Safe to share between threads. Costs no money; without `embedder` some thousand claims a second over passages it
    has seen before, with it one call of `embedder.encode` a claim.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._coefficients = load_coefficients("words" if embedder is None else "words_and_embeddings")

    @property
    def name(self) -> str:
        return "lexical" if self._embedder is None else f"lexical+{self._embedder.name}"

    def verify(self, claim: str, passages: Sequence[str]) -> SupportReading:
        comparison = compare_texts(claim, passages)
        if comparison is None:
            return SupportReading("insufficient", 0.0, (), NOTHING_FOUND)
        sentences = read_sentences(claim)
        against, doubt = find_conflict(sentences, comparison), find_doubt(sentences, comparison)
        score = self._coefficients.score(agreement(claim, comparison, self._embedder))
        if against is not None or doubt is not None or lacks_essential(comparison):
            score /= 2
        cited = tuple(passage for passage, share in comparison.shares if share >= MIN_SHARE_CITED)[:MAX_CITED]
        words = _found_and_missing(comparison)
        if against is not None:
            return SupportReading("contradicted", score, cited, f"{against}; {words}")
        label: Label = "supported" if score >= THRESHOLD else "insufficient"
        return SupportReading(label, score, cited, words if doubt is None else f"{doubt}; {words}")


def compare_texts(claim: str, passages: Sequence[str]) -> ClaimComparison | None:
    """The comparison of a claim with passages as text; None where they share no content."""
    return compare(read_sentences(claim), [index_passage(passage) for passage in passages])


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


def _found_and_missing(comparison: ClaimComparison) -> str:
    missing = comparison.missing()
    found = [term for term in comparison.terms if term not in missing]
    parts = [f"found {_listed(found)}"]
    for noun, kinds in (("name", {TermKind.NAME}), ("figure", FIGURES), ("word", CONTENT - FIGURES - {TermKind.NAME})):
        lacking = [term for term in missing if term.kind in kinds]
        if lacking:
            parts.append(f"{noun}{'s' if len(lacking) > 1 else ''} not found: {_listed(lacking)}")
    return "; ".join(parts)


def _listed(terms: Sequence[Term]) -> str:
    named = ", ".join(term.surface for term in terms[:MAX_NAMED])
    return f"{named} and {len(terms) - MAX_NAMED} more" if len(terms) > MAX_NAMED else named
