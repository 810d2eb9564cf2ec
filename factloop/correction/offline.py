"""New wordings without a model: the source's value, or its sentence, in the place of what it contradicts.

In this order: the right value in the place of the wrong one (`values`); the sentence of the source that decides
(`quotes`), beside what else is to be kept of the sentence; only what is to be kept, said again. Where none of
these leaves anything of a sentence, its new wording is empty. A baseline: it costs nothing, and what it says again has
lost its markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from factloop.core.errors import ToolError
from factloop.core.records import Claim
from factloop.correction.drafts import NOT_CONFIRMED, Wording
from factloop.correction.faults import Fault
from factloop.correction.quotes import VERBAL, quoted
from factloop.correction.values import Exchange, find_exchange
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.words import tag_words
from factloop.tools.verifiers.base import Verifier

NAME = "offline rewriter"
NOTHING_BETTER = "the evidence has no words that could take its place"
LEFT_OUT = "what is contradicted is left out: the evidence has no words that could take its place"
REVERSED = "the evidence has the same words in another order, which is too little to remove it for"
IN_ITS_WORDS = "in the words of the evidence"
_WORD = re.compile(r"\w+")
_STOPS = ".!?…。！？｡؟।"


class OfflineRewriter:
    """Words sentences anew by rules; `verifier` has the last word on a value that is put in."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    @property
    def name(self) -> str:
        return NAME

    @property
    def hashes(self) -> Mapping[str, str]:
        return {}

    async def reword(self, fault: Fault) -> Wording:
        exchanges = {one.claim.id: self._exchange(one.claim, fault) for one in fault.contradicted}
        cited = tuple(item.id for item in fault.cited)
        mended = _exchanged(fault, list(exchanges.values()))
        if mended is not None:
            return Wording(mended, cited, self.name, otherwise=self._cut_down(fault))
        if "|" in fault.text:
            return self._without_row(fault)
        better = {one.claim.id: self._better(one.claim, exchanges[one.claim.id], fault) for one in fault.contradicted}
        if any(_is_reversal(one.claim) and better[one.claim.id] is None for one in fault.contradicted):
            raise ToolError(REVERSED, tool=self.name)
        if not any(better.values()):
            return self._left_over(fault)
        text = restated(fault, better)
        detail = LEFT_OUT if None in better.values() else IN_ITS_WORDS if None in exchanges.values() else ""
        return Wording(text, cited, self.name, detail, self._cut_down(fault), is_cut=None in better.values())

    def _cut_down(self, fault: Fault) -> Wording | None:
        """What to try where a better wording does not stand its check, beside a removal."""
        if not fault.staying or "|" in fault.text:
            return None
        try:
            return replace(self._left_over(fault), detail=NOT_CONFIRMED)
        except ToolError:
            return None

    def _left_over(self, fault: Fault) -> Wording:
        """Only what is to be kept, said again. Raises ToolError where that would be a stump."""
        text = restated(fault, {})
        if not text:
            return Wording("", detail=NOTHING_BETTER if fault.contradicted else "")
        is_cut = bool(fault.contradicted)
        return Wording(text, by=self.name, detail=LEFT_OUT if is_cut else "", is_cut=is_cut)

    def _without_row(self, fault: Fault) -> Wording:
        if fault.staying:
            raise ToolError("no rule words a row of a table anew", tool=self.name)
        return Wording("", detail=NOTHING_BETTER if fault.contradicted else "")

    def _exchange(self, claim: Claim, fault: Fault) -> Exchange | None:
        text, passages = plain_text(claim.self_contained), [item.passage for item in fault.cited]
        quotes = [claim.judgement.quote] if claim.judgement.quote else list(_sentences_of(passages))
        return find_exchange(claim, text, quotes, passages, self._supports)

    def _better(self, claim: Claim, exchange: Exchange | None, fault: Fault) -> str | None:
        """A sentence that says in the place of the claim what the evidence does."""
        said = None if exchange is None else exchange.in_text(plain_text(claim.text))
        if said is not None:
            return said
        text, quote = plain_text(claim.self_contained), claim.judgement.quote
        if not quote:
            return None
        said = quoted(quote, fault.text, lambda part: self._verifier.verify(text, [part]).label == "contradicted")
        return None if said is None or said[:-1].lower() in plain_text(fault.response).lower() else said

    def _supports(self, claim: str, passage: str) -> bool:
        return self._verifier.verify(claim, [passage]).label == "supported"


def _exchanged(fault: Fault, exchanges: Sequence[Exchange | None]) -> str | None:
    """The sentence with all exchanges made; None where one is wanting or cannot be made in it, where a claim that is to
    be kept has the same words, or one is to be removed."""
    text, kept = fault.text, [plain_text(claim.text) for claim in fault.staying]
    if fault.removed:
        return None
    for one in dict.fromkeys(exchanges):
        shared = one is not None and any(one.stands_in(other) for other in kept)
        new = None if one is None or shared else one.in_text(text)
        if new is None:
            return None
        text = new
    return text if exchanges else None


def restated(fault: Fault, better: Mapping[str, str | None]) -> str:
    """The facts to keep, each in a sentence as it was split, and what is better than the contradicted ones, in their
    order; empty without any. Raises ToolError where only a stump would be left of a fact."""
    stop = fault.text[-1] if fault.text[-1:] in _STOPS else "."
    staying = {claim.id: plain_text(claim.text).strip() for claim in fault.staying}
    wrong = [plain_text(one.claim.text) for one in fault.contradicted if not better.get(one.claim.id)]
    staying = {name: one for name, one in staying.items() if not _is_said_in(one, better.values())}
    said = {**staying, **{name: one for name, one in better.items() if one}}
    kept = [said[claim.id] for claim in fault.claims if said.get(claim.id)]
    for text in kept:
        if any(_is_stump(text, of) for of in wrong):
            raise ToolError(f"only {text!r} would be left of what it says", tool=NAME)
    texts = list(dict.fromkeys(kept))
    if len(texts) == 1 and fault.text[-1:] not in _STOPS:
        return _as_sentence(texts[0].rstrip("."), "")
    return " ".join(_as_sentence(text, stop) for text in texts)


def _is_reversal(claim: Claim) -> bool:
    """Whether the judge names the same words on both sides: of a mutual verb, both orders may be true."""
    wrong, instead = (sorted(_WORD.findall(words)) for words in (claim.judgement.wrong, claim.judgement.instead))
    return bool(wrong) and wrong == instead


def _is_said_in(text: str, others: Iterable[str | None]) -> bool:
    """Whether a better sentence has all words of a fact, but for parts of a name of which it has the others."""
    words = _WORD.findall(text)
    for other in others:
        known = {word.lower() for word in _WORD.findall(other or "")}
        new = [word for word in words if word.lower() not in known]
        if all(word[0].isupper() for word in new) and any(word[0].isupper() and word not in new for word in words):
            return True
    return False


def _is_stump(text: str, of: str) -> bool:
    """Whether a fact is a contradicted one that was cut off after its verb: *Ada died*, of *Ada died in Oslo*."""
    words, whole = text.rstrip(_STOPS).lower(), of.rstrip(_STOPS).lower()
    if not whole.startswith(f"{words} "):
        return False
    return tag_words(words)[-1].word_class in VERBAL


def _as_sentence(text: str, stop: str) -> str:
    return text[0].upper() + text[1:] + ("" if text[-1] in _STOPS else stop)


def _sentences_of(passages: Sequence[str]) -> Iterator[str]:
    for passage in passages:
        for sentence in split_sentences(passage):
            yield sentence.text
