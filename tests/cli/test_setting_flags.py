from __future__ import annotations

import inspect
from importlib import import_module
from typing import Annotated, Any, get_args

import pytest
import typer
from pydantic import ConfigDict

from factloop.cli import flags
from factloop.cli.app import COMMANDS
from factloop.cli.late import load_command
from factloop.cli.setting_flags import flag_of, help_of, settings_given, with_settings
from factloop.correction.settings import CorrectionSettings
from factloop.evaluation.generation.settings import PromptSettings, ResponseSettings
from factloop.evaluation.mixedqa.building.settings import BuildSettings
from factloop.evaluation.verification.settings import VerifySettings
from factloop.setup.marks import CACHE, LIMITS, RECORDING, Mark, in_order, mark_of, text_of
from factloop.setup.settings import CheckSettings, Names, Positive, RunSettings
from factloop.tools.search.registry import built_in_searches
from factloop.trust.settings import TrustSettings

MODELS = (
    CheckSettings,
    CorrectionSettings,
    TrustSettings,
    VerifySettings,
    ResponseSettings,
    PromptSettings,
    BuildSettings,
)


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


def option_of(name: str) -> Any:
    return get_args(flag_of(name, Sample.model_fields[name]))[1]


def test_a_flag_has_all_that_its_setting_says() -> None:
    sites, wait, fast = (option_of(name) for name in ("sites", "wait_s", "fast"))
    assert get_args(flag_of("sites", Sample.model_fields["sites"]))[0] == list[str] | None
    assert (sites.default, sites.metavar, sites.help) == ("--sites", "URL", "Where to look; repeatable.")
    assert (wait.default, wait.metavar, wait.help) == ("--wait", "SECONDS", "How long (default 2.5).")
    assert (fast.default, fast.help) == ("--fast/--no-fast", "Be fast (default no).")
    assert (sites.rich_help_panel, wait.rich_help_panel) == ("Limits", "Output")


def test_settings_of_a_model_come_before_those_that_it_inherits() -> None:
    assert [name for name, _ in in_order(Sample)][:4] == ["sites", "wait_s", "fast", "max_tokens"]


def test_a_command_shows_the_flags_of_its_groups_and_is_given_them() -> None:
    @with_settings(CheckSettings, LIMITS)
    def command(name: Annotated[str, typer.Argument()], json: flags.Json = None, **settings: Any) -> None:
        assert (name, json) == ("x", None)
        assert settings_given(CheckSettings, settings) == {"max_calls": 3}

    shown = [*inspect.signature(command).parameters]
    assert shown[0] == "name"
    assert shown[-1] == "json"  # what is written comes last, as everywhere
    assert "settings" not in shown
    limits = {name for name, field in CheckSettings.model_fields.items() if mark_of(field).group is LIMITS}
    assert {*shown} - {"name", "json"} == limits
    command("x", max_calls=3, max_tokens=None)


def test_a_setting_that_is_none_cannot_be_asked_for() -> None:
    with pytest.raises(AssertionError, match="CheckSettings has no \\['patience'\\]"):
        with_settings(CheckSettings, "patience")(lambda **_: None)


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_says_what_it_is(model: type[RunSettings]) -> None:
    untold = {name for name, field in model.model_fields.items() if not text_of(field).endswith(".")}
    assert untold == set()


def test_searches_are_named_in_help_as_in_their_registry() -> None:
    *first, last = built_in_searches()
    assert f"{', '.join(first)} or {last}; repeatable" in help_of(CheckSettings.model_fields["search"])


def test_every_command_is_at_home_where_the_table_says_and_is_described_as_there() -> None:
    for path, (home, about) in COMMANDS.items():
        module, _, function = home.partition(":")
        document = inspect.getdoc(getattr(import_module(f"factloop.cli.{module}"), function))
        assert document is not None
        assert document.splitlines()[0] == about, path


def test_whatever_uses_the_cache_can_do_without_and_bound_it() -> None:
    """`cache show` and `cache clear` have a folder to look at, and use nothing in it."""
    kept = {name for name, field in CheckSettings.model_fields.items() if mark_of(field).group is CACHE}
    assert kept == {"cache", "cache_dir", "cache_mb", "cache_days"}
    users: list[str] = []
    for path, (home, _) in COMMANDS.items():
        offered = {param.name for param in load_command(f"factloop.cli.{home}").params}
        if offered & kept and not path.startswith("cache "):
            assert offered >= kept, path
            users.append(path)
    assert users == [
        "check", "correct", "trust", "distractors", "experiment", "serve", "mcp", "doctor", "eval responses",
        "eval factscore", "eval mixedqa", "generate longfact", "generate prompts", "generate mixedqa",
    ]  # fmt: skip
