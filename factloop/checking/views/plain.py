"""Renders a report as short plain text, and its claims as CSV."""

from __future__ import annotations

from factloop.core.citations import mentioned
from factloop.core.findings import unchecked
from factloop.core.records import FactualityReport, Sentence, Verdict
from factloop.reports.claims import NO_CLAIM_WORDS, REASON_WORDS, ClaimView, views_of
from factloop.reports.downloads import Cell, csv_text
from factloop.reports.figures import distribution, plural

COLUMNS = ("number", "claim", "verdict", "unscored_reason", "score", "sentence", "rationale", "sources", "duplicate_of")
_SHOWN = 10
_LONGEST = 200


def in_words(report: FactualityReport) -> str:
    """Returns the counts and up to ten unsupported or unchecked passages, with the reasons. Each source passage
    that a reason mentions is shown with its decisive or closest sentence, or else its beginning."""
    views = {one.claim.id: one for one in views_of(report.claims)}
    not_checked = [one for one, _ in unchecked(report)]
    lines = [_claim(one) for one in views.values() if one.claim.judgement.verdict is Verdict.NOT_SUPPORTED]
    lines += [_silent(one, report) if isinstance(one, Sentence) else _claim(views[one.id]) for one in not_checked]
    shown = [counts_in_words(report)]
    shown += [f"- {line}" for line in lines[:_SHOWN]]
    return "\n".join([*shown, *([f"- and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])])


def counts_in_words(report: FactualityReport) -> str:
    n_unread = sum(isinstance(one, Sentence) for one, _ in unchecked(report))
    nothing = "The answer states no facts that can be checked" if not n_unread else "No claim was found"
    said = [f"{plural(len(report.claims), 'claim')} ({distribution(report)})" if report.claims else nothing]
    said += [f"{plural(n_unread, 'passage')} not checked"] * bool(n_unread)
    return f"{'; '.join(said)}."


def _silent(sentence: Sentence, report: FactualityReport) -> str:
    assert sentence.no_claim is not None  # a sentence with claims is represented by them
    return f"not checked ({NO_CLAIM_WORDS[sentence.no_claim]}): {_short(report.text_of(sentence))}"


def _claim(one: ClaimView) -> str:
    why = f" ({_short(one.why)})" if one.why else ""
    said = {} if one.marked is None else {one.marked.evidence.id: one.marked.text}
    passages = (
        f"  “{item.title or item.source}”: {_short(said.get(item.id, item.passage))}"
        for item in mentioned(one.claim.judgement.rationale, one.claim.evidence)
    )
    return "\n".join((f"{one.words}: {_short(one.text)}{why}", *passages))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def render_csv(report: FactualityReport) -> str:
    """Returns a CSV row for each claim. The `sources` column lists the sources that the verdict cites."""
    return csv_text(COLUMNS, map(_row, views_of(report.claims)))


def _row(one: ClaimView) -> tuple[Cell, ...]:
    claim, judgement = one.claim, one.claim.judgement
    cited = (item.source for item in claim.evidence if item.id in judgement.cited)
    return (
        one.number,
        one.text,
        one.status.words,
        None if judgement.unscored_reason is None else REASON_WORDS[judgement.unscored_reason],
        judgement.score,
        claim.sentence,
        one.why,
        "; ".join(dict.fromkeys(cited)),
        one.repeats,
    )
