"""`python draw_pictures.py audit.json` draws the pictures of an audit over all its data sets as SVG files beside it."""

from __future__ import annotations

import sys
from pathlib import Path

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.html import groups_of, marks_of
from factloop.evaluation.audit.views.parts import View, parts_of
from factloop.reports.pictures import as_file


def draw(place: Path) -> None:
    report = AuditReport.model_validate_json(place.read_text(encoding="utf-8"))
    group = groups_of(report.data)[0]
    for part in parts_of(View(report.at[0], group, marks_of(report), is_drawn=True)):
        if part.picture is not None:
            place.with_name(f"{part.key}.svg").write_text(as_file(part.picture), encoding="utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
