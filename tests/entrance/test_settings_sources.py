from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError
from factloop.entrance.settings_sources import load_settings
from factloop.setup.settings import CheckSettings


def toml(folder: Path, text: str) -> Path:
    (folder / "factloop.toml").write_text(text, encoding="utf-8")
    return folder


def test_nothing_given_is_the_default(tmp_path: Path) -> None:
    assert load_settings(CheckSettings, {}, {}, tmp_path) == CheckSettings()


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    folder = toml(tmp_path, "plan = 'paper'\nmax_searches = 1\nresults_per_search = 1\n")
    environment = {"FACTLOOP_MAX_SEARCHES": "2", "FACTLOOP_RESULTS_PER_SEARCH": "2"}
    settings = load_settings(CheckSettings, {"results_per_search": 3}, environment, folder)
    assert (settings.plan, settings.max_searches, settings.results_per_search) == ("paper", 2, 3)


@pytest.mark.parametrize(
    ("flags", "environment", "file", "complaint"),
    [
        ({"plan": "a"}, {"FACTLOOP_PLAN": "b"}, "plan = 'c'", "command line: plan = 'a'"),
        ({}, {"FACTLOOP_PLAN": "b"}, "plan = 'c'", "environment variable FACTLOOP_PLAN: plan = 'b'"),
        ({}, {}, "plan = 'c'", "factloop.toml: plan = 'c'"),
        ({}, {"FACTLOOP_K": "64,many"}, "", "environment variable FACTLOOP_K: k = 'many'"),
        ({}, {"FACTLOOP_CACHE": "perhaps"}, "", "environment variable FACTLOOP_CACHE: cache = 'perhaps'"),
        ({}, {}, "colour = 'red'", "factloop.toml: there is no setting 'colour'"),
        ({}, {}, "patience = 7", "factloop.toml: there is no setting 'patience'; did you mean 'patience_s'?"),
    ],
)
def test_an_error_names_where_it_comes_from(
    tmp_path: Path, flags: Mapping[str, Any], environment: Mapping[str, str], file: str, complaint: str
) -> None:
    with pytest.raises(ConfigError) as error:
        load_settings(CheckSettings, flags, environment, toml(tmp_path, file))
    assert str(error.value).startswith(complaint)


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("FACTLOOP_K", "64, 178", "k", (64, 178)),
        ("FACTLOOP_SEARCH", "serper,wikipedia,", "search", ("serper", "wikipedia")),
        ("FACTLOOP_SEARCH", "", "search", ()),
        ("FACTLOOP_TEMPERATURE", "0", "temperature", 0.0),
        ("FACTLOOP_CACHE", "false", "cache", False),
        ("FACTLOOP_MAX_CALLS", "0", "max_calls", 0),
    ],
)
def test_the_environment_is_read_as_text(tmp_path: Path, name: str, value: str, field: str, expected: object) -> None:
    assert getattr(load_settings(CheckSettings, {}, {name: value}, tmp_path), field) == expected


def test_variables_of_others_are_none_of_our_business(tmp_path: Path) -> None:
    assert (
        load_settings(CheckSettings, {}, {"FACTLOOP_SERPER_URL": "http://x", "PLAN": "x"}, tmp_path) == CheckSettings()
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("FACTLOOP_PATIENCE", "FACTLOOP_PATIENCE_S"),
        ("FACTLOOP_MAX_SERCHES", "FACTLOOP_MAX_SEARCHES"),
        ("FACTLOOP_SUBJECT_MODLE", "FACTLOOP_SUBJECT_MODEL"),
    ],
)
def test_a_misspelt_variable_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, near: str
) -> None:
    for _ in range(2):
        load_settings(CheckSettings, {}, {name: "7"}, tmp_path)
    said = f"the environment variable {name} has no effect; did you mean {near}?"
    assert [record.getMessage() for record in caplog.records] == [said]


@pytest.mark.parametrize(
    "name", ["FACTLOOP_BRAVE_URL", "FACTLOOP_DATA_DIR", "FACTLOOP_SERVICE_KEYS", "FACTLOOP_UNPROVEN", "FACTLOOP_ELSE"]
)
def test_variables_that_are_ours_or_far_from_ours_are_no_matter(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    assert load_settings(CheckSettings, {}, {name: "x"}, tmp_path) == CheckSettings()
    assert caplog.records == []


def test_the_file_knows_lists_and_single_values(tmp_path: Path) -> None:
    settings = load_settings(CheckSettings, {}, {}, toml(tmp_path, "k = [1, 2]\nsearch = 'serper'\ntemperature = 0\n"))
    assert (settings.k, settings.search, settings.temperature) == ((1, 2), ("serper",), 0.0)


@pytest.mark.parametrize("content", [b"k = [", b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "factloop.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot read .*factloop\.toml \("):
        load_settings(CheckSettings, {}, {}, tmp_path)
