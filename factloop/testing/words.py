"""Failure messages: the unmet requirements and each faulty claim with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.agents.trustscore.records import TrustReport
from factloop.core.citations import named
from factloop.core.records import Claim, Evidence, FactualityReport, Sentence
from factloop.reports.claims import NO_CLAIM_WORDS, ClaimView, Status
from factloop.reports.figures import distribution, plural
from factloop.reports.terminal_parts import one_line

MOST_CLAIMS, MOST_PASSAGES = 10, 3


def factual_failure(
    missed: Sequence[str],
    report: FactualityReport,
    at_fault: Sequence[ClaimView],
    unchecked: Sequence[Claim | Sentence] = (),
) -> str:
    """The message of `assert_factual`: unmet requirements, faulty claims and unchecked content."""
    precision = "undefined" if report.precision is None else f"{report.precision:.3f}"
    claims = f"{plural(len(report.claims), 'claim')}{f': {distribution(report)}' if report.claims else ''}"
    return "\n".join(
        [
            *(f"required: {one_line(what)}" for what in missed),
            f"reached:  precision {precision} (n = {report.counts.scored}), {claims}",
            f"judge:    {one_line(report.fingerprint.judge)}",
            *(line for number, claim in enumerate(at_fault[:MOST_CLAIMS], 1) for line in _claim(number, claim)),
            *([f"... and {len(at_fault) - MOST_CLAIMS} more"] if len(at_fault) > MOST_CLAIMS else []),
            *([""] if unchecked else []),
            *(f"not checked ({_unchecked_reason(one)}): {_text(one, report)}" for one in unchecked[:MOST_CLAIMS]),
            *([f"... and {len(unchecked) - MOST_CLAIMS} more"] if len(unchecked) > MOST_CLAIMS else []),
        ]
    )


def trust_failure(missed: Sequence[str], report: TrustReport) -> str:
    """The message of `assert_trustworthy`: unmet requirements, failed checks and passages."""
    bc, fc = report.trust_bc, report.trust_fc
    lines = [
        *(f"required: {one_line(what)}" for what in missed),
        f"question: {one_line(report.question)}",
        f"response: {one_line(report.response)}",
        f"TrustBC:  {_scored(bc.value, bc.unscored_reason, bc.rationale)}"
        f" ({plural(bc.n_asked, 'check')}: {bc.n_consistent} consistent, {bc.n_inconsistent} inconsistent,"
        f" {bc.n_unscored} unscored)",
    ]
    for check in bc.checks:
        if check.counted and check.consistent is False:
            chosen = next(option for option in check.options if option.letter == check.chosen)
            lines.append(f"  check {check.number}: chose {chosen.letter}) {one_line(chosen.text)}")
    lines.append(f"TrustFC:  {_scored(fc.relation, fc.unscored_reason, named(fc.rationale, fc.passages))}")
    lines += _passages([item for item in fc.passages if item.id in fc.cited])
    ov = report.trust_ov
    lines.append(f"TrustOV:  {one_line(ov.missing) if ov.value is None else f'{ov.value:g}'}")
    return "\n".join(lines)


def _scored(value: object, reason: object, rationale: str) -> str:
    said = f": {one_line(rationale)}" if rationale else ""
    return f"unscored, {reason}{said}" if value is None else f"{value}{said}"


def _unchecked_reason(one: Claim | Sentence) -> str:
    if isinstance(one, Claim):
        return Status.IRRELEVANT.words
    assert one.no_claim is not None  # its claims are listed if there are any
    return NO_CLAIM_WORDS[one.no_claim]


def _text(one: Claim | Sentence, report: FactualityReport) -> str:
    return one_line(one.self_contained if isinstance(one, Claim) else report.text_of(one))


def _claim(number: int, one: ClaimView) -> Iterator[str]:
    yield ""
    yield f"{number}. {one.words}: {one_line(one.text)}"
    if " ".join(one.claim.sentence.split()) != one.text:
        yield f"   in: {one_line(one.claim.sentence)}"
    if one.why:
        yield f"   why: {one_line(one.why)}"
    yield from _passages(one.cited)
    if not one.cited:
        yield f"   evidence: none ({plural(len(one.claim.evidence), 'passage')} read)"


def _passages(passages: Sequence[Evidence]) -> Iterator[str]:
    for item in passages[:MOST_PASSAGES]:
        yield f'   evidence [{one_line(item.source)}]: "{one_line(item.passage)}"'
    if len(passages) > MOST_PASSAGES:
        yield f"   ... and {plural(len(passages) - MOST_PASSAGES, 'more passage')}"
