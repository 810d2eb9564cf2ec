from __future__ import annotations

from factloop.core.records import FactualityReport, StageUsage, Usage
from factloop.correction.drafts import Draft, Wording
from factloop.correction.marks import MarkPolicy, marked
from factloop.correction.records import Correction, LeftReason, LeftSentence, Rejection
from factloop.correction.sentences import sentences_of
from tests.correction.reports import report_of
from tests.reports.sample import HOSTILE, hostile_report, make_report, sample_report

MENDED = "The Analytical Engine was never completed, and never ran her program."


def accepted() -> Correction:
    report = sample_report()
    sentences, _ = sentences_of(report, "remove")
    number = {claim.id: place for place, sentence in enumerate(sentences) for claim in sentence.claims}
    wordings = {number["c8"]: Wording(MENDED, ("c8e1",), "openai:gpt-4o-mini"), number["c10"]: Wording("")}
    draft = Draft(report.response, sentences, wordings)
    kept = tuple(claim for claim in report.claims if claim.id not in ("c8", "c10"))
    lessons = sentences[number["c4"]]
    return Correction(
        text=draft.text,
        accepted=True,
        why="precision 0.75 (9 of 12) before, 0.90 (9 of 10) after",
        before=report,
        rewritten=draft.text,
        changes=draft.changes,
        left=(
            LeftSentence(
                span=(lessons.start, lessons.end),
                claims=("c4",),
                reason=LeftReason.REWRITE_FAILED,
                detail="timeout: openai:gpt-4o-mini: no answer within 60 s",
            ),
        ),
        after=make_report(draft.text, kept),
        rounds=1,
        rewriter="openai:gpt-4o-mini",
        prompts={"correction/rewrite": "ab12" * 16},
        usage=Usage(calls=9, prompt_tokens=4_000, completion_tokens=310, wall_s=2.5, stages={"rewrite": StageUsage()}),
    )


def not_taken() -> Correction:
    """A change that the second check undid."""
    detail = "the new wording is not supported"
    left = accepted().left[0].model_copy(update={"reason": LeftReason.NOT_CONFIRMED, "detail": detail})
    return nothing_done(sample_report(), Rejection.NEW_UNSUPPORTED).model_copy(update={"left": (left,)})


def nothing_done(
    report: FactualityReport | None = None, rejected: Rejection = Rejection.NOTHING_TO_CORRECT
) -> Correction:
    before = report if report is not None else make_report("I don't know.", (), prompt=None)
    return Correction(
        text=before.response,
        accepted=False,
        rejected=rejected,
        why="no unsupported claims were found",
        before=before,
        rounds=0,
        rewriter="offline rewriter",
        usage=Usage(),
    )


def in_doubt() -> Correction:
    """A contradicted sentence that could not be corrected, and an unproven one that is kept."""
    report = report_of(("Ann ran.", "c"), ("Bad fell.", "n"), ("Cid sat.", "s"))
    text, doubts = marked(report, MarkPolicy(unsupported="keep"))
    fields = dict(nothing_done(report, Rejection.NOTHING_CHANGED))
    return Correction(**{**fields, "text": text, "doubts": doubts, "unsupported": "keep", "unscored": "mark"})


def changed_and_in_doubt() -> Correction:
    report = report_of(("Ann ran.", "n"), ("Bad fell.", "cs"), ("Cid lay.", "c"), ("Dan sat.", "u"), ("Eve hid.", "c"))
    sentences, _ = sentences_of(report, "mark")
    wordings = {1: Wording("Bad rose. He sang."), 2: Wording(""), 4: Wording("Eve ran.")}
    draft = Draft(report.response, sentences, wordings)
    after = report_of(("Ann ran.", "n"), ("Bad rose.", "n"), ("He sang.", "s"), ("Dan sat.", "u"), ("Eve ran.", "n"))
    text, doubts = marked(after, MarkPolicy())
    return Correction(
        text=text,
        accepted=True,
        why="",
        before=report,
        rewritten=draft.text,
        changes=draft.changes,
        doubts=doubts,
        after=after,
        rounds=1,
        rewriter="offline rewriter",
        usage=Usage(),
    )


def hostile() -> Correction:
    """Every text would break out of an attribute, an element or a line."""
    report = hostile_report()
    sentences, _ = sentences_of(report, "remove")
    draft = Draft(report.response, sentences, {0: Wording(HOSTILE, by=HOSTILE)})
    span = (sentences[0].start, sentences[0].end)
    return Correction(
        text=draft.text,
        accepted=True,
        why=HOSTILE,
        before=report,
        rewritten=draft.text,
        changes=draft.changes,
        left=(LeftSentence(span=span, claims=(report.claims[0].id,), reason=LeftReason.NO_PLACE, detail=HOSTILE),),
        after=report,
        rounds=2,
        rewriter=HOSTILE,
        prompts={HOSTILE: HOSTILE},
        usage=report.usage,
    )
