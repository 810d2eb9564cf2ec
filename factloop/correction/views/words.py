"""Describes a correction in words. All outputs use this wording."""

from __future__ import annotations

import re
from collections.abc import Iterable

from factloop.core.findings import Finding
from factloop.core.records import Evidence, FactualityReport
from factloop.core.report_warnings import OFFLINE
from factloop.correction.records import Change, ChangeKind, Correction, Doubt, LeftReason, Rejection
from factloop.reports.claims import PROBLEMS, ClaimView, Status, finding_words, tally, views_of
from factloop.reports.figures import how_often_right, plural
from factloop.reports.visible import visible
from factloop.tools.text.markup import plain_text

_NUMBERED_NOTE = re.compile(r"\[\^(\d+)\]")
_MARKDOWN = re.compile(r"[\\`*_\[\]<>&|]")

LEFT_WORDS = {
    LeftReason.REWRITE_FAILED: "there is no new wording",
    LeftReason.NOT_CONFIRMED: "the change failed the second check and was undone",
    LeftReason.LAYOUT: "the next line belongs to the sentence, as after a table header or an underlined heading",
    LeftReason.UNMENDABLE: "the evidence offers no replacement",
    LeftReason.NO_PLACE: "the response does not contain the sentence",
}
_HOW_TO_MEASURE = {"offline": "", "model": " To test it: factloop doctor --controls"}
KIND_WORDS = {ChangeKind.REMOVED: "removed", ChangeKind.MENDED: "reworded"}


def decision(correction: Correction) -> str:
    open_ones = unjudged(correction)
    if correction.rejected is not Rejection.NOTHING_TO_CORRECT:
        return f"{_outcome(correction)}: {why(correction)}.{f' {open_ones}.' if open_ones else ''}"
    judged_by = correction.before.fingerprint
    is_said = OFFLINE in correction.report.warnings
    known = "" if is_said else f" {how_often_right(judged_by)}{_HOW_TO_MEASURE[judged_by.engine]}"
    return f"{headline(correction)}{'' if open_ones else f': {correction.why}'}.{known}"


def headline(correction: Correction) -> str:
    """Returns the decision in a few words, with what got worse, if anything."""
    said = _outcome(correction)
    return (", and " if ", but " in said else ", but ").join(filter(None, (said, unjudged(correction))))


def _outcome(correction: Correction) -> str:
    if correction.accepted:
        worse = _worse(correction)
        return f"Changed, but {' and '.join(worse)} than before" if worse else "Corrected"
    if correction.rejected is Rejection.NOTHING_TO_CORRECT:
        return "Nothing found to correct" if unjudged(correction) else "Nothing to correct"
    return "No sentence was changed"


def why(correction: Correction) -> str:
    """Returns why the text was changed or, if it was not, why each faulty sentence was left unchanged."""
    return correction.why if correction.accepted or not correction.left else why_left(correction)


def why_left(correction: Correction) -> str:
    reasons = (f"{LEFT_WORDS[one.reason]}{f' ({one.detail})' if one.detail else ''}" for one in correction.left)
    return "; ".join(dict.fromkeys(reasons))


def unjudged(correction: Correction) -> str:
    """Says how many sentences of the final text have unscored claims. Returns an empty string if there are none."""
    n = sum(Finding.UNSCORED in doubt.findings for doubt in correction.doubts)
    were, them = ("was", "it") if n == 1 else ("were", "them")
    return f"{plural(n, 'sentence')} {were} not judged; read {them} yourself" if n else ""


def _worse(correction: Correction) -> list[str]:
    after = correction.after
    assert after is not None  # since the text was accepted
    was, now = tally(correction.before.claims), tally(after.claims)
    said = [f"{now[status] - was[status]:,} more {status.words}" for status in PROBLEMS if now[status] > was[status]]
    lost = was[Status.SUPPORTED] - now[Status.SUPPORTED]
    return said + ([f"{lost:,} fewer {Status.SUPPORTED.words}"] if lost > 0 else [])


def response_title(correction: Correction) -> str:
    return f"Response, {'corrected' if correction.changes else 'with marks' if correction.marks else 'unchanged'}"


def kept_back(correction: Correction) -> str | None:
    """Returns one line about faulty or unjudged sentences, or None if all is well."""
    n = len(correction.left)
    left = f"{plural(n, 'faulty sentence')} {'was' if n == 1 else 'were'} left unchanged: {why_left(correction)}"
    return ". ".join(filter(None, (left if n else "", unjudged(correction)))) or None


def changes_words(correction: Correction) -> str:
    """Returns the number of changes of each kind, or `none`."""
    kinds = [change.kind for change in correction.changes]
    parts = [f"{kinds.count(kind)} {words}" for kind, words in KIND_WORDS.items() if kind in kinds]
    if correction.left:
        parts.append(f"{plural(len(correction.left), 'faulty sentence')} left unchanged")
    return ", ".join(parts) or "none"


def change_reason(change: Change) -> str:
    """Returns the findings on the changed claims, and any other reasons for the change."""
    return "; ".join(filter(None, (*map(finding_words, change.findings), change.detail)))


def doubts_words(correction: Correction, *, footnotes: bool = False) -> str | None:
    """Says how many sentences of the final text are unproven and how they are marked. Returns None if none are."""
    n, unmarked = len(correction.doubts), sum(doubt.mark is None for doubt in correction.doubts)
    if not n:
        return None
    marks = dict.fromkeys(correction.text[slice(*doubt.mark)].strip() for doubt in correction.doubts if doubt.mark)
    marked = f"marked {'by a footnote' if footnotes else ' or '.join(marks)}"
    be, they = ("is", "it is") if n == 1 else ("are", "they are")
    which = f"{unmarked:,} of them not marked" if 0 < unmarked < n else f"{they} {'not marked' if unmarked else marked}"
    return f"{plural(n, 'sentence')} {be} unproven; {which}"


def doubted(correction: Correction, doubt: Doubt) -> str:
    return plain_text(correction.text[slice(*doubt.span)])


def treatment(correction: Correction, doubt: Doubt, note: int | None = None) -> str:
    """Returns the findings on a passage and how it is marked. `note` is the footnote number, if any."""
    found = ", ".join(map(finding_words, doubt.findings))
    if doubt.mark is None:
        return f"{found}; not marked"
    return f"{found}; " + (f"footnote {note}" if note else f"marked {correction.text[slice(*doubt.mark)].strip()}")


def note_numbers(correction: Correction) -> range:
    """Returns the footnote numbers of the marks, in order, starting after the text's last footnote."""
    first = max(map(int, _NUMBERED_NOTE.findall(correction.text)), default=0) + 1
    return range(first, first + len(correction.marks))


def footnoted(correction: Correction) -> str:
    """Returns the final text in Markdown. The marks become footnotes with the findings and the reasons for them."""
    text, report = correction.text, correction.report
    parts, notes, reached = [], [], 0
    marked = [(doubt, doubt.mark) for doubt in correction.doubts if doubt.mark is not None]
    for number, (doubt, (start, end)) in zip(note_numbers(correction), marked, strict=True):
        mark = text[start:end]
        before = " " if text[:start].endswith(("]", "!")) else ""  # or the footnote would be read as a link or an image
        parts += [text[reached:start], f"{before}[^{number}]{mark[len(mark.rstrip()) :]}"]
        reached = end
        reasons = dict.fromkeys(one.why for one in claims_of(report, doubt.claims) if one.why)
        said = ": ".join(part for part in (", ".join(map(finding_words, doubt.findings)), "; ".join(reasons)) if part)
        escaped = _MARKDOWN.sub(r"\\\g<0>", visible(" ".join(said.split())))
        notes.append(f"[^{number}]: {escaped}\n")
    parts.append(text[reached:])
    return "".join(parts) if not notes else f"{''.join(parts).rstrip()}\n\n{''.join(notes)}"


def claims_of(report: FactualityReport, ids: Iterable[str]) -> list[ClaimView]:
    views = {one.claim.id: one for one in views_of(report.claims)}
    return [views[name] for name in ids if name in views]


def evidence_of(correction: Correction, change: Change) -> list[Evidence]:
    """Returns the evidence for the new wording or, if the sentence was removed, the evidence against its claims."""
    wrong = claims_of(correction.before, change.claims)
    wanted = set(change.evidence) or {item for one in wrong for item in one.claim.judgement.cited}
    found: dict[tuple[str, str], Evidence] = {}
    for claim in correction.before.claims:
        for item in claim.evidence:
            if item.id in wanted:
                found.setdefault((item.source, item.passage), item)
    return list(found.values())
