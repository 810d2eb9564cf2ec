from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import pytest
from pydantic import ValidationError

from factloop.checking.preparing import prepare
from factloop.core.records import Fingerprint
from factloop.setup.limits import Limits
from factloop.setup.marks import PER_CHECK, Mark, in_group, is_list, path_settings, text_of, type_of
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings


def test_what_a_type_says() -> None:
    fields = CheckSettings.model_fields
    assert get_args(type_of(fields["plan"])) == ("paper", "fused", "grounded")
    assert type_of(fields["max_tokens"]) is int
    assert {name for name, field in fields.items() if is_list(field)} == {"search", "docs", "k"}
    assert {name for name, field in TrustSettings.model_fields.items() if is_list(field)} == {"corpus", "kb"}
    assert set(path_settings(CheckSettings)) == {"docs", "prompts", "cache_dir", "embeddings", "recording", "cascade"}


class StricterSettings(CheckSettings):
    """With two settings more that shape verdicts, and that no record knows."""

    strictness: Annotated[int, Mark(fingerprint=True)] = 0
    house_rules: Annotated[Path | None, Mark(fingerprint=True)] = None


def fingerprint_of(settings: CheckSettings) -> Fingerprint:
    return prepare(settings, ()).fingerprint


def test_fingerprints_hold_every_setting_that_shapes_a_result() -> None:
    found = fingerprint_of(StricterSettings(max_searches=2, strictness=3, house_rules=Path("rules.md")))
    assert found.max_searches == 2
    assert found.settings == {"strictness": 3, "house_rules": "rules.md"}
    assert Fingerprint.model_validate_json(found.model_dump_json()) == found
    configuration = found.configuration
    assert (configuration["max_searches"], configuration["strictness"]) == (2, 3)


def test_a_setting_at_its_default_leaves_fingerprint_and_configuration_as_they_were() -> None:
    before, after = fingerprint_of(CheckSettings()), fingerprint_of(StricterSettings())
    assert before == after
    assert before.configuration == after.configuration
    assert {*before.configuration} == {*Fingerprint.model_fields} - {"factloop_version", "versions", "seed", "settings"}


def test_limits_of_a_request_are_those_of_the_settings() -> None:
    assert {name.removesuffix("_per_check") for name in in_group(CheckSettings, PER_CHECK)} == {*Limits.model_fields}
    schema = Limits.model_json_schema()["properties"]["max_calls"]
    assert schema["anyOf"][0] == {"minimum": 0, "type": "integer"}
    assert schema["description"] == text_of(CheckSettings.model_fields["max_calls_per_check"])
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Limits(max_calls=-1)
    settings = CheckSettings(deadline_s=3.0, max_calls_per_check=4)
    assert Limits.per_check(settings) == Limits(deadline_s=3.0, max_calls=4)
