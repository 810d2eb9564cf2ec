from __future__ import annotations

import copy
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from factloop.checking.preparing import prepare
from factloop.core.errors import ConfigError
from factloop.core.records import Fingerprint
from factloop.setup.limits import Limits
from factloop.setup.marks import PER_CHECK, Mark, in_group, is_list, path_settings, text_of, type_of
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings


def test_what_a_type_says() -> None:
    fields = CheckSettings.model_fields
    assert get_args(type_of(fields["plan"])) == ("safe", "paper", "fused", "grounded")
    assert type_of(fields["max_tokens"]) is int
    assert {name for name, field in fields.items() if is_list(field)} == {"search", "docs", "jury", "k"}
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
    settings = CheckSettings(deadline_s=3.0, max_calls_per_check=4)
    assert Limits.per_check(settings) == Limits(deadline_s=3.0, max_calls=4)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_calls": -1}, "limits: max_calls = -1: input should be greater than or equal to 0"),
        ({"deadline_s": 0}, "limits: deadline_s = 0: input should be greater than 0"),
        ({"deadline": 5}, "limits: there is no setting 'deadline'; did you mean 'deadline_s'?"),
    ],
)
def test_wrong_limits_are_named_in_one_line(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Limits(**values)
    assert str(refused.value) == said
    with pytest.raises(ValidationError) as of_request:
        TypeAdapter(dict[str, Limits]).validate_python({"limits": values})
    assert of_request.value.errors()[0]["loc"] == ("limits", next(iter(values)))


def test_limits_are_copied_and_read_as_ever() -> None:
    limits = Limits(deadline_s=3.0)
    assert limits == Limits.model_validate({"deadline_s": 3}) == copy.deepcopy(limits) == limits.within(Limits())
    assert limits.model_copy(update={"max_calls": 2}).max_calls == 2
