"""Checks a rewritten text. Verdicts on unchanged sentences are copied. A sentence after a removed one is checked again,
because it may no longer be clear who *she* is."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from langchain_core.documents import Document

from factloop.checking.checker import Check
from factloop.checking.citing import citations_of
from factloop.core.factuality import score_claims
from factloop.core.records import Claim, FactualityReport, NoClaim, Usage
from factloop.core.records import Sentence as ReadSentence
from factloop.core.report_warnings import unscored_warning
from factloop.correction.acceptance import Fate
from factloop.correction.drafts import Draft
from factloop.tools.text.outline import Part, read_outline


@dataclass(frozen=True)
class _Stretch:
    span: tuple[int, int]
    claims: tuple[Claim, ...]
    no_claim: NoClaim | None = None


@dataclass
class Rechecks:
    """Checks the drafts of a response. A sentence that is the same in two drafts is checked only once."""

    before: FactualityReport
    check: Check
    documents: Sequence[Document] | None = None
    _known: dict[tuple[int, str, bool], tuple[_Stretch, ...]] = field(default_factory=dict)
    """Each key is the sentence number, the wording, and whether the previous sentence was removed. Positions are
    relative to the start of the wording, which may consist of several sentences."""

    def unread(self, draft: Draft) -> frozenset[int]:
        return frozenset(number for number, key in _to_read(draft).items() if key not in self._known)

    async def report(self, draft: Draft) -> FactualityReport:
        """Returns the report on the draft, with the usage of this call alone. Raises ConfigError or DataError."""
        wanted = _to_read(draft)
        new = {number: key for number, key in wanted.items() if key not in self._known}
        read: FactualityReport | None = None
        if new:
            text, fates = draft.text, draft.fates
            parts = read_outline(text)
            spans = {number: _sentences_in(text, parts, fates[number]) for number in new}
            read = await self.check(text, self.before.prompt, spans=[span for of in spans.values() for span in of])
            found = _found(read)
            for number, key in new.items():
                start = fates[number].start
                moved = (replace(found[at], span=(at[0] - start, at[1] - start)) for at in spans[number])
                self._known[key] = tuple(moved)
        report = _merged(self.before, draft, {number: self._known[key] for number, key in wanted.items()}, read)
        cited = citations_of(report.response, report.sentences, report.claims, self.documents)
        return report.model_copy(update={"citations": cited})


def _to_read(draft: Draft) -> dict[int, tuple[int, str, bool]]:
    wanted: dict[int, tuple[int, str, bool]] = {}
    follows_removed = False
    for number, sentence in enumerate(draft.sentences):
        wording = draft.wordings.get(number)
        if wording is not None and not wording.text:
            follows_removed = True
            continue
        if wording is not None or follows_removed:
            text = draft.response[sentence.start : sentence.end] if wording is None else wording.text
            wanted[number] = (number, text, follows_removed)
        follows_removed = False
    return wanted


def _sentences_in(text: str, parts: Sequence[Part], fate: Fate) -> list[tuple[int, int]]:
    spans = [
        (max(part.start, fate.start), min(part.end, fate.end))
        for part in parts[max(bisect_right(parts, fate.start, key=lambda part: part.start) - 1, 0) :]
        if part.start < fate.end and part.end > fate.start
    ]
    return [span for span in spans if any(map(str.isalnum, text[slice(*span)]))] or [(fate.start, fate.end)]


def _found(read: FactualityReport) -> Mapping[tuple[int, int], _Stretch]:
    by_id = {claim.id: claim for claim in read.claims}
    return {
        one.span: _Stretch(one.span, tuple(_on_its_own(by_id[name], by_id) for name in one.claims), one.no_claim)
        for one in read.sentences
    }


def _on_its_own(claim: Claim, by_id: Mapping[str, Claim]) -> Claim:
    if claim.duplicate_of is None:
        return claim
    first = by_id[claim.duplicate_of]
    changes = {"duplicate_of": None, "judgement": first.judgement, "evidence": first.evidence}
    return claim.model_copy(update={**changes, "queries": first.queries, "missing": first.missing})


def _merged(
    before: FactualityReport, draft: Draft, readings: Mapping[int, Sequence[_Stretch]], read: FactualityReport | None
) -> FactualityReport:
    text = draft.text
    stretches = sorted([*_carried(before, draft, readings), *_reread(draft, readings)], key=lambda one: one.span)
    claims = tuple(
        claim.model_copy(update={"span": one.span, "sentence": text[slice(*one.span)] or claim.sentence})
        for one in stretches
        for claim in one.claims
    )
    sentences = tuple(
        ReadSentence(span=one.span, claims=tuple(claim.id for claim in one.claims), no_claim=one.no_claim)
        for one in stretches
    )
    made = before if read is None else read
    scores = score_claims(claims, [one.k for one in before.at_k], made.fingerprint.repeats)
    on_others = unscored_warning(made.fingerprint, made.claims)
    return FactualityReport(
        prompt=before.prompt,
        response=text,
        claims=claims,
        sentences=sentences if before.sentences else (),
        **vars(scores),
        usage=Usage() if read is None else read.usage,
        fingerprint=made.fingerprint,
        cascade=None if read is None else read.cascade,
        mode=made.mode,
        created_at=made.created_at,
        warnings=(
            *(warning for warning in made.warnings if warning not in on_others),
            *unscored_warning(made.fingerprint, claims),
        ),
    )


def _carried(before: FactualityReport, draft: Draft, readings: Mapping[int, Sequence[_Stretch]]) -> Iterator[_Stretch]:
    by_id = {claim.id: claim for claim in before.claims}
    touched = [draft.sentences[number] for number in sorted({*readings, *draft.wordings})]
    gone = {claim.id for sentence in touched for claim in sentence.claims}
    staying: defaultdict[tuple[int, int], list[Claim]] = defaultdict(list)
    for claim in before.claims:
        if claim.id not in gone:
            repeats_one = claim.duplicate_of in gone
            if claim.left_out is not None and not gone.isdisjoint(claim.left_out.claims):
                claim = claim.model_copy(update={"left_out": None})
            staying[claim.span].append(_named(_on_its_own(claim, by_id), claim.id) if repeats_one else claim)
    for span, claims in staying.items():
        yield _Stretch(draft.moved(span), tuple(claims))
    spans = {(sentence.start, sentence.end) for sentence in touched}
    for one in before.claim_free:
        if one.span not in spans:
            yield _Stretch(draft.moved(one.span), (), one.no_claim)


def _reread(draft: Draft, readings: Mapping[int, Sequence[_Stretch]]) -> Iterator[_Stretch]:
    """The ids of new claims extend the old ids: `c3.1` and `c3.2` for `c3`."""
    fates = draft.fates
    for number, stretches in readings.items():
        start, place = fates[number].start, count(1)
        prefix = draft.sentences[number].claims[0].id.partition(".")[0]
        for one in stretches:
            claims = tuple(_named(claim, f"{prefix}.{next(place)}") for claim in one.claims)
            yield _Stretch((start + one.span[0], start + one.span[1]), claims, one.no_claim)


def _named(claim: Claim, name: str) -> Claim:
    names = {item.id: f"{name}-e{number}" for number, item in enumerate(claim.evidence, 1)}
    judgement = claim.judgement.model_copy(update={"cited": tuple(names[cited] for cited in claim.judgement.cited)})
    evidence = tuple(item.model_copy(update={"id": names[item.id]}) for item in claim.evidence)
    return claim.model_copy(update={"id": name, "evidence": evidence, "judgement": judgement})
