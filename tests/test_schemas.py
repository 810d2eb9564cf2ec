"""The published schemas: as the records are, and what reports follow."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from factloop.core.files.json import to_json
from factloop.core.records import Record, UnscoredReason, Usage
from factloop.evaluation.generation.records import GeneratedBy, ResponsesReport, UnansweredPrompt
from factloop.schemas import FOLDER, generate
from tests.correction.views.correction_samples import accepted
from tests.reports.sample import WHEN, hostile_report, sample_report
from tests.trust.views.trust_sample import firm, long_form, mixed_run

ADDED = frozenset(
    {"repeated", "repeats", "settings", "strict_paper", "quote", "instead"}
    | {"letters_mass", "target_order", "by_source", "postamble"}
    | {"unmendable"}
)
"""Fields that reports of checks have since version 1.2, those of trust and generation since 1.1, corrections since
1.3."""
CHECK, OTHER = {"schema_version": "1.1"}, {"schema_version": "1.0"}


def test_committed_schemas_are_those_of_the_records() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert committed == generate(), "run python -m factloop.schemas and commit what it writes"


def test_reports_follow_their_schema() -> None:
    schema = json.loads((FOLDER / "factuality_report.schema.json").read_text(encoding="utf-8"))
    for report in (sample_report(), hostile_report()):
        assert list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(to_json(report)))) == []


def _one_unanswered() -> ResponsesReport:
    return ResponsesReport(
        out="answers.jsonl",
        data="prompts.jsonl",
        system="sim",
        generated_by=GeneratedBy(model="sim"),
        n_prompts=1,
        n_answered=0,
        n_earlier=0,
        n_cut_off=0,
        unanswered=(UnansweredPrompt(prompt_id="1", postamble="short", reason=UnscoredReason.REFUSAL, said="no"),),
        usage=Usage(),
        created_at=WHEN,
    )


@pytest.mark.parametrize(
    ("written", "now", "before"),
    [
        (sample_report(), "1.2", CHECK),
        (accepted(), "1.3", {"schema_version": "1.2", "before": CHECK, "after": CHECK}),
        (firm(), "1.1", OTHER),
        (mixed_run(), "1.1", {**OTHER, "reports": OTHER}),
        (long_form(), "1.1", {**OTHER, "factuality": CHECK}),
        (_one_unanswered(), "1.1", OTHER),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_version_before_wrote_is_read(written: Record, now: str, before: dict[str, Any]) -> None:
    """The new number tells a reader of the version before that there may be more fields."""
    new = json.loads(to_json(written))
    assert new["schema_version"] == now
    read = type(written).model_validate(_as_before(new, before))
    assert read.model_dump(mode="json")["schema_version"] == before["schema_version"]


def _as_before(record: Any, versions: dict[str, Any]) -> Any:
    if isinstance(record, list):
        return [_as_before(one, versions) for one in record]
    if not isinstance(record, dict):
        return record
    kept = {name: _as_before(value, versions.get(name, {})) for name, value in record.items() if name not in ADDED}
    return {**kept, **{name: version for name, version in versions.items() if isinstance(version, str)}}
