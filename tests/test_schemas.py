"""The published schemas: as the records are, and what reports follow."""

from __future__ import annotations

import json

import jsonschema

from factloop.core.files.json import to_json
from factloop.schemas import FOLDER, generate
from tests.reports.sample import hostile_report, sample_report


def test_committed_schemas_are_those_of_the_records() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert committed == generate(), "run python -m factloop.schemas and commit what it writes"


def test_reports_follow_their_schema() -> None:
    schema = json.loads((FOLDER / "factuality_report.schema.json").read_text(encoding="utf-8"))
    for report in (sample_report(), hostile_report()):
        assert list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(to_json(report)))) == []
