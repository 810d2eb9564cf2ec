from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict

from factloop.cli.app import COMMANDS, load_command
from factloop.cli.options import ARGUMENT, Arguments, Flags, Texts, WithSettings, command, taking
from factloop.cli.preparing import server_settings
from factloop.core.errors import ConfigError
from factloop.correction.records import CorrectionSettings
from factloop.entrance.serving import ServeSettings
from factloop.evaluation.generation.settings import PromptSettings, ResponseSettings
from factloop.evaluation.verification.records import VerifySettings
from factloop.setup.marks import LIMITS, RECORDING, Mark, text_of
from factloop.setup.settings import CheckSettings, Names, Positive, RunSettings
from factloop.trust.settings import TrustSettings

MOST_FLAGS = 110
SETTINGS = (
    CheckSettings, CorrectionSettings, TrustSettings, ServeSettings, VerifySettings, ResponseSettings, PromptSettings,
)  # fmt: skip


class Sample(RunSettings):
    """A setting of every type."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    sites: Annotated[Names, Mark(LIMITS, "URL")] = ()
    """Where to look."""
    wait_s: Annotated[Positive | None, Mark(RECORDING)] = 2.5
    """How long.

    Not for the command line."""
    fast: Annotated[bool, Mark(LIMITS)] = False
    """Be `fast`."""
    rare: int = 1
    """Not often."""


class Given(Arguments):
    """Arguments of every type."""

    file: Annotated[str, Mark(ARGUMENT, "FILE")]
    """A file."""
    from_: Annotated[Texts, Mark(metavar="PLACE")] = ()
    """A place."""
    loud: bool = False
    """Be loud."""


SEEN: list[tuple[Given, Flags]] = []


@command(taking(Sample, LIMITS, "wait_s"))
def sample(given: Given, flags: Flags) -> int:
    SEEN.append((given, flags))
    return 0


def run(*words: str) -> tuple[Given, Flags]:
    sample.build("A sample.").main([*words], standalone_mode=False)
    return SEEN.pop()


def options_of(path: str) -> dict[str, Any]:
    return {option.opts[0]: option for option in load_command(path).params if option.param_type_name == "option"}


def test_a_flag_has_all_that_its_field_says() -> None:
    shown = {option.name: option for option in sample.build("A sample.").params}
    assert (shown["sites"].opts, shown["sites"].help) == (["--sites"], "Where to look. Repeatable.")
    assert (shown["wait_s"].opts, shown["wait_s"].metavar) == (["--wait"], "SECONDS")
    assert shown["wait_s"].help == "How long. Default: 2.5."
    assert shown["fast"].secondary_opts == ["--no-fast"]  # file and environment may have set it
    assert shown["loud"].secondary_opts == []
    assert shown["from_"].opts == ["--from"]
    assert (shown["sites"].rich_help_panel, shown["wait_s"].rich_help_panel) == ("Limits", "Output")
    assert "rare" not in shown


def test_a_command_is_given_its_arguments_and_the_settings_that_were_given() -> None:
    words = ("--from", "a", "--from", "b", "--loud", "--no-fast", "--set", "rare=3", "--set", "sites=c,d")
    given, flags = run("x", *words)
    assert given == Given(file="x", from_=("a", "b"), loud=True)
    assert flags == {"fast": False, "rare": "3", "sites": ("c", "d")}
    assert run("x") == (Given(file="x"), {})
    assert run("x", "--sites", "e", "--set", "sites=c")[1] == {"sites": ["e"]}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("rare", "--set rare: must be NAME=VALUE"),
        ("rar=3", "--set rar=3: there is no setting 'rar'; did you mean 'rare'?"),
    ],
)
def test_a_wrong_setting_is_named(setting: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said.replace("?", r"\?")):
        run("x", "--set", setting)


@pytest.mark.parametrize("model", SETTINGS)
def test_every_setting_says_what_it_is(model: type[BaseModel]) -> None:
    assert {name for name, field in model.model_fields.items() if not text_of(field).endswith(".")} == set()


def test_flags_are_few() -> None:
    flags = {"--version"}.union(*map(options_of, COMMANDS))
    assert len(flags) <= MOST_FLAGS, sorted(flags)


def test_whatever_takes_settings_takes_all_of_them() -> None:
    takers = {path for path in COMMANDS if "--model" in options_of(path) or "--cache" in options_of(path)}
    assert takers <= {path for path in COMMANDS if "--set" in options_of(path)}
    assert list(WithSettings.model_fields) == ["set_"]


@pytest.mark.usefixtures("home")
def test_a_server_has_the_settings_of_checks_and_of_scores() -> None:
    there = "http://127.0.0.1:9/v1"
    check, trust = server_settings({"subject_model": "openai:x", "base_url": there})
    assert (check.base_url, trust.base_url) == (None, there)
    check, trust = server_settings({"model": "openai:y", "subject_model": "openai:x", "base_url": there})
    assert (check.base_url, trust.base_url) == (there, there)
    check, trust = server_settings({"temperature": 0.3, "max_calls": 4})
    assert (check.temperature, trust.temperature) == (0.3, TrustSettings().temperature)
    assert check.max_calls == trust.max_calls == 4
