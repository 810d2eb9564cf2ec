"""Published records: a changed one needs a new version, reports follow their schema, and older files can be read.

`python -m tests.test_schemas` or `make schemas` saves the current versions and shapes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema

from factloop.core.files.json import to_json
from factloop.schemas import PUBLISHED, json_schema
from tests.reports.sample import hostile_report, sample_report

NOTED = Path(__file__).with_name("schema_versions.json")


def _version_and_shape(name: str) -> str:
    """The version of a record and a hash of its fields.

    Descriptions may change, and so may a nested record with its own version.
    """
    schema = json_schema(name)
    version = schema.get("properties", {}).get("schema_version", {}).get("default", "unversioned")
    shape = json.dumps(_shape({**schema, "$defs": None}, schema.get("$defs", {})), sort_keys=True)
    return f"{version} {hashlib.sha256(shape.encode()).hexdigest()[:16]}"


def _shape(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_shape(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        record = schema["$ref"].rpartition("/")[2]
        has_own_version = "schema_version" in definitions[record].get("properties", ())
        return record if has_own_version else _shape(definitions[record], definitions)
    return {
        field: _shape(value, definitions)
        for field, value in schema.items()
        if not (field in ("description", "title") and isinstance(value, str))
    }


def test_published_records_change_with_their_version() -> None:
    noted: dict[str, str] = json.loads(NOTED.read_text(encoding="utf-8"))
    assert noted.keys() == PUBLISHED.keys(), "run make schemas to note what is published"
    for name, before in noted.items():
        version, _, _ = (now := _version_and_shape(name)).partition(" ")
        raise_it = version != "unversioned" and before.startswith(f"{version} ")
        assert before == now, f"{name}: {'raise its schema_version and ' if raise_it else ''}run make schemas"


def test_a_new_field_changes_the_shape_and_a_description_does_not() -> None:
    def shape_of(**fields: Any) -> Any:
        return _shape({"properties": fields, "description": "d"}, {})

    assert shape_of(a={"type": "string", "description": "said"}) == shape_of(a={"type": "string"})
    assert shape_of(a={"type": "string"}, description={"type": "string"}) != shape_of(a={"type": "string"})
    assert shape_of(a={"type": "string"}) != shape_of(a={"type": "integer"})


def test_reports_follow_their_schema() -> None:
    schema = json_schema("factuality_report")
    for report in (sample_report(), hostile_report()):
        assert list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(to_json(report)))) == []


if __name__ == "__main__":
    today = {name: _version_and_shape(name) for name in PUBLISHED}
    NOTED.write_text(json.dumps(today, indent=1) + "\n", encoding="utf-8")
