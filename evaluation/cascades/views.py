from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from factloop.checking.cascade.records import CascadeFile, CascadePoint, CascadeSide, CascadeTuning, ErrorKind
from factloop.reports.figures import percent, plural
from factloop.reports.page import render_page
from factloop.reports.sheet.table import Column, ColumnOf, Sheet, name, sheet_of
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import notice_rows, one_line, print_section, rows_table

KIND_WORDS = {
    ErrorKind.BALANCED: "accepts and rejects cheaply",
    ErrorKind.FALSE_SUPPORT: "accepts cheaply, rejects nothing",
    ErrorKind.FALSE_REJECT: "rejects cheaply, accepts nothing",
}


def share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}%"


def threshold(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def promise(tuned: CascadeTuning) -> str:
    return (
        f"at most {percent(tuned.max_error)} of the claims settled on either side are wrong, "
        f"with {percent(tuned.confidence)} confidence"
    )


def side_words(side: CascadeSide, n: int) -> str:
    if side.threshold is None:
        return f"none: {side.why_none}" if side.why_none else "none"
    settled = f"{plural(side.n, 'claim')} ({share(side.n / n)}), {side.n_wrong:,} of them wrong ({share(side.error)}"
    sure = f"{percent(round(side.confidence, 4))} confidence, if no other threshold was tried"
    return f"{settled}; at most {share(side.bound)} with {sure})"


def label_words(side: CascadeSide, label: str) -> str:
    if not side.n_label:
        return f"no claims are labelled {label}"
    return f"{side.n_wrong:,} of {plural(side.n_label, 'claim')} labelled {label} ({share(side.label_error)})"


def rests_on(tuned: CascadeTuning) -> str:
    unscored = f", {tuned.n_unscored:,} without a score" if tuned.n_unscored else ""
    return f"{plural(tuned.n, 'labelled claim')}, {tuned.n_supported:,} of them supported{unscored}"


def rows(cascade: CascadeFile) -> Iterator[tuple[str, str]]:
    yield "Verifier", cascade.verifier
    yield "Accepts", "nothing" if cascade.upper is None else f"a score of {cascade.upper:g} or more"
    yield "Rejects", "nothing" if cascade.lower is None else f"a score of {cascade.lower:g} or less"
    tuned = cascade.tuned
    if tuned is None:
        yield "Guarantee", "none: the thresholds were set by hand"
        return
    nearly = "" if tuned.n_groups == tuned.n else ", approximately, because claims come in groups"
    yield "Guarantee", f"{promise(tuned)}{nearly}" if tuned.n_settled else f"not possible: {promise(tuned)}"
    yield "Based on", f"{cascade.data}: {rests_on(tuned)}" if cascade.data else rests_on(tuned)
    yield "Accepted", side_words(tuned.accepted, tuned.n)
    yield "Rejected", side_words(tuned.rejected, tuned.n)
    if tuned.n_settled:
        wrongly = (label_words(tuned.accepted, "not supported"), label_words(tuned.rejected, "supported"))
        yield "Settled wrongly", "; ".join(wrongly)
    yield "To the model", f"{share(tuned.share_sent)} of the claims"
    if not tuned.n_settled:
        yield "What to do", advice(tuned)


def advice(tuned: CascadeTuning) -> str:
    """Suggests how to make a cascade settle some claims if it settles none."""
    ways = ["use a more accurate verifier (--verifier)", "label a few hundred more claims", "lower --level"]
    settling = [point for point in tuned.curve if point.n_accepted or point.n_rejected]
    if settling:
        least = min(settling, key=lambda point: point.max_error)
        settled = f"{least.n_accepted + least.n_rejected:,} of {plural(tuned.n, 'labelled claim')}"
        ways.insert(0, f"allow a larger error (--max-error {least.max_error:g} settles {settled})")
    if tuned.error is ErrorKind.BALANCED:
        ways.append("settle only one side (--error false_support or false_reject)")
    return ", ".join(ways[:-1]) + f", or {ways[-1]}"


def curve(points: Iterable[CascadePoint]) -> Sheet:
    columns: tuple[ColumnOf[CascadePoint], ...] = (
        (name("Error allowed"), lambda one: percent(one.max_error)),
        (Column("To the model"), lambda one: share(one.share_sent)),
        (Column("Accepted"), lambda one: one.n_accepted),
        (Column("of them wrong"), lambda one: one.n_accepted_wrong),
        (Column("Rejected"), lambda one: one.n_rejected),
        (Column("of them wrong"), lambda one: one.n_rejected_wrong),
        (Column("Balanced error, if the model never errs"), lambda one: share(one.balanced_error)),
    )
    return sheet_of("Results for other allowed errors, each considered separately", columns, points)


def print_cascade(cascade: CascadeFile, console: Console) -> None:
    """Prints the thresholds, the claims behind them, and the curve. Markup and escape sequences have no effect."""
    shown = [(name, Text(one_line(value))) for name, value in rows(cascade)]
    print_section(console, "Cascade", rows_table([*shown, *notice_rows("Note", cascade.warnings)]))
    if cascade.tuned is not None:
        print_sheet(console, curve(cascade.tuned.curve))


def render_cascade_html(cascade: CascadeFile) -> str:
    """The output is deterministic."""
    tuned = cascade.tuned
    return render_page(
        "cascade.html.j2",
        room="factloop.evaluation.cascades",
        styles=("run.css",),
        cascade=cascade,
        tuned=tuned,
        rows=list(rows(cascade)),
        curve=curve(tuned.curve if tuned is not None else ()),
        said={"share": share, "side_words": side_words},
    )
