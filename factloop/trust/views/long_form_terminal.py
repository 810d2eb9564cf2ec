"""A long response on the terminal: each claim's standing in place, and the claims in their four groups."""

from __future__ import annotations

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.agents.trustscore.records import ClaimStanding, ClaimTrust, LongFormTrustReport
from factloop.reports import figures
from factloop.reports.claims import ClaimView
from factloop.reports.terminal_parts import Row, notice_rows, print_question, print_section, rows_table, usage_rows
from factloop.reports.visible import visible
from factloop.trust.views import figures as trust_figures
from factloop.trust.views.figures import WORST_FIRST, MarkedSentence, group, sentences
from factloop.trust.views.words import STANDING_SIGNS, STANDING_WORDS

_STYLES = {
    ClaimStanding.SUPPORTED_INSISTED: "green",
    ClaimStanding.SUPPORTED_WAVERING: "cyan",
    ClaimStanding.UNSUPPORTED_INSISTED: "bold red",
    ClaimStanding.UNSUPPORTED_WAVERING: "magenta",
    ClaimStanding.UNPLACED: "dim",
}


def print_long_form(report: LongFormTrustReport, console: Console) -> None:
    """Prints the response with a sign before each sentence for every claim in it, then the groups with their claims."""
    if report.factuality.prompt:
        print_question(console, report.factuality.prompt)
    print_section(console, "Response", _response(report))
    for standing in WORST_FIRST:
        claims = group(report, standing)
        if claims:
            print_section(console, f"{STANDING_WORDS[standing].capitalize()} ({len(claims):,})", _claims(claims))
    print_section(console, "Result", rows_table(_rows(report)))


def _response(report: LongFormTrustReport) -> Text:
    text = Text()
    for sentence in sentences(report):
        text.append_text(_sentence(sentence))
    text.rstrip()
    return text if text else Text("(empty)", style="dim")


def _sentence(sentence: MarkedSentence) -> Text:
    if not sentence.claims:
        return Text(visible(sentence.text))
    signs = Text(" ").join(Text(_sign(one), style=_STYLES[one.standing]) for _, one in sentence.claims)
    return Text.assemble("[", signs, "] ", (visible(sentence.text), _STYLES[sentence.standing]))


def _sign(one: ClaimTrust) -> str:
    return STANDING_SIGNS[one.standing]


def _claims(claims: list[tuple[int, ClaimTrust]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for number, one in claims:
        lines = [Text(visible(one.claim.self_contained)), Text(_grounds(one), style="dim")]
        table.add_row(str(number), Text(_sign(one), style=_STYLES[one.standing]), Group(*lines))
    return table


def _grounds(one: ClaimTrust) -> str:
    """The verdict of SAFE, the score of TrustBC, and why the claim is in no group."""
    said = [f"evidence: {ClaimView(one.claim).words}"]
    if one.trust_bc is not None:
        said.append(f"subject: {trust_figures.belief_basis(one.trust_bc)}")
    return " · ".join([*said, *([visible(one.why_unplaced)] if one.why_unplaced else [])])


def _rows(report: LongFormTrustReport) -> list[Row]:
    rows: list[Row] = [
        (STANDING_SIGNS[standing], Text(f"{count:,} {STANDING_WORDS[standing]}", style=_STYLES[standing]))
        for standing in ClaimStanding
        if (count := report.counts.get(standing, 0)) or standing is not ClaimStanding.UNPLACED
    ]
    factuality = report.factuality
    rows.append(
        ("Precision", Text(f"{figures.precision(factuality)}  ({figures.precision_basis(factuality)})")),
    )
    rows.append(("Subject", Text(visible(report.fingerprint.subject_model or "none"))))
    rows.append(("Judge", Text(visible(factuality.fingerprint.judge))))
    rows += [(f"TrustBC {name.lower()}", value) for name, value in usage_rows(report.usage)]
    rows += [(f"SAFE {name.lower()}", value) for name, value in usage_rows(factuality.usage)]
    return rows + notice_rows("Warning", (*factuality.warnings, *report.warnings))
