"""A report in a few lines, for a model or a person to read in passing."""

from __future__ import annotations

from factloop.core.citations import mentioned, reason
from factloop.core.findings import unchecked
from factloop.core.records import Claim, FactualityReport, Sentence, Verdict
from factloop.reports.figures import plural
from factloop.reports.status import NO_CLAIM_WORDS

_SHOWN = 10
_LONGEST = 200


def in_words(report: FactualityReport) -> str:
    """The counts, then what is not supported and what was not checked, ten at most, with why. Plain text.

    A passage that the reason speaks of follows it, each a line of its own.
    """
    wanting: list[Claim | Sentence] = [
        claim for claim in report.claims if claim.judgement.verdict is Verdict.NOT_SUPPORTED
    ]
    wanting += (one for one, _ in unchecked(report))
    lines = [_counts(report), *(f"- {_line(one, report)}" for one in wanting[:_SHOWN])]
    if len(wanting) > _SHOWN:
        lines.append(f"- and {len(wanting) - _SHOWN} more")
    return "\n".join(lines)


def _counts(report: FactualityReport) -> str:
    counts, n_unread = report.counts, sum(isinstance(one, Sentence) for one, _ in unchecked(report))
    if not report.claims:
        said = ["The answer states no facts that can be checked" if not n_unread else "No claim was found"]
    else:
        said = [f"{counts.supported} of {counts.scored} judged claims are supported by the sources"]
    said += [f"{counts.unscored} unscored"] * bool(counts.unscored)
    said += [f"{counts.irrelevant} irrelevant to the question"] * bool(counts.irrelevant)
    said += [f"{plural(n_unread, 'passage')} not checked"] * bool(n_unread)
    return f"{'; '.join(said)}."


def _line(one: Claim | Sentence, report: FactualityReport) -> str:
    if isinstance(one, Sentence):
        assert one.no_claim is not None  # else it has claims, which stand for it
        return f"not checked ({NO_CLAIM_WORDS[one.no_claim]}): {_short(report.text_of(one))}"
    passages = (
        f"  “{item.title or item.source}”: {_short(item.passage)}"
        for item in mentioned(one.judgement.rationale, one.evidence)
    )
    return "\n".join((f"{_kind(one)}: {_short(one.self_contained)}{_why(one)}", *passages))


def _kind(claim: Claim) -> str:
    judgement = claim.judgement
    if judgement.verdict is None:
        return f"unscored ({judgement.unscored_reason})"
    if judgement.verdict is Verdict.IRRELEVANT:
        return "irrelevant to the question"
    return "contradicted" if judgement.contradicted else "no evidence found"


def _why(claim: Claim) -> str:
    return f" ({_short(reason(claim))})" if claim.judgement.rationale else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
