"""The claims of a check as a table for spreadsheets."""

from __future__ import annotations

import csv
import io

from factloop.checking.views.plain import render_csv
from factloop.core.records import FactualityReport
from factloop.reports.claims import Status, tally
from tests.reports.sample import hostile_report, sample_report


def rows(report: FactualityReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(report), newline="")))


def test_every_claim_is_a_row_with_its_grounds() -> None:
    report = sample_report()
    found = rows(report)
    assert [row["claim"] for row in found] == [claim.self_contained for claim in report.claims]
    assert [int(row["number"]) for row in found] == list(range(1, len(report.claims) + 1))
    for status, n in tally(report.claims).items():
        assert sum(row["verdict"] == status.words for row in found) == n
    unscored = [row for row in found if row["verdict"] == Status.UNSCORED.words]
    assert all(row["unscored_reason"] and not row["score"] for row in unscored)
    for row, claim in zip(found, report.claims, strict=True):
        cited = dict.fromkeys(item.source for item in claim.evidence if item.id in claim.judgement.cited)
        assert (row["sentence"], row["sources"]) == (claim.sentence, "; ".join(cited))
    numbers = {claim.id: str(number) for number, claim in enumerate(report.claims, 1)}
    assert [row["duplicate_of"] for row in found] == [numbers.get(c.duplicate_of or "", "") for c in report.claims]


def test_no_cell_of_a_hostile_report_is_a_formula() -> None:
    cells = [cell for row in rows(hostile_report()) for cell in row.values()]
    assert cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
