"""A report in a few lines, for a model or a person to read in passing."""

from __future__ import annotations

from factloop.records import Claim, FactualityReport, Verdict

_SHOWN = 10
_LONGEST = 200


def in_words(report: FactualityReport) -> str:
    """The counts, then each claim that is not supported or has no verdict, ten at most, with why. Plain text."""
    counts = report.counts
    if not report.claims:
        return "The answer states no facts that can be checked."
    lines = [
        f"{counts.supported} of {counts.scored} judged claims are supported by the sources"
        + (f"; {counts.unscored} could not be judged" if counts.unscored else "")
        + "."
    ]
    wanting = [claim for claim in report.claims if claim.judgement.verdict in (None, Verdict.NOT_SUPPORTED)]
    lines += [f"- {_kind(claim)}: {_short(claim.self_contained)}{_why(claim)}" for claim in wanting[:_SHOWN]]
    if len(wanting) > _SHOWN:
        lines.append(f"- and {len(wanting) - _SHOWN} more")
    return "\n".join(lines)


def _kind(claim: Claim) -> str:
    judgement = claim.judgement
    if judgement.verdict is None:
        return f"not judged ({judgement.unscored_reason})"
    return "contradicted" if judgement.contradicted else "no evidence found"


def _why(claim: Claim) -> str:
    return f" ({_short(claim.judgement.rationale)})" if claim.judgement.rationale else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
