from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_type_hints

import pytest
import typer

from factloop.cli import flags
from factloop.cli.app import app
from factloop.cli.flag_groups import (
    CheckFlags,
    DistractorFlags,
    LimitFlags,
    RecordingFlags,
    ScoreFlags,
    TrustFlags,
    with_flags,
)
from factloop.setup.settings import CheckSettings
from factloop.setup.trust_settings import TrustSettings


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        (CheckFlags, CheckSettings),
        (TrustFlags, TrustSettings),
        (DistractorFlags, TrustSettings),
        (ScoreFlags, TrustSettings),
        (LimitFlags, CheckSettings),
        (LimitFlags, TrustSettings),
        (RecordingFlags, CheckSettings),
        (RecordingFlags, TrustSettings),
    ],
)
def test_every_flag_of_a_group_is_a_setting(group: type, kind: type[CheckSettings | TrustSettings]) -> None:
    assert {*get_type_hints(group)} - {*kind.model_fields} == set()


def test_a_command_shows_the_flags_of_its_groups_and_is_given_them() -> None:
    @with_flags(LimitFlags)
    def command(name: Annotated[str, typer.Argument()], json: flags.Json = None, **settings: Any) -> None:
        assert (name, json, settings) == ("x", None, {"max_calls": 3})

    shown = [*inspect.signature(command).parameters]
    assert shown[0] == "name"
    assert shown[-1] == "json"  # what is written comes last, as everywhere
    assert "settings" not in shown
    assert {*shown} - {"name", "json"} == {*get_type_hints(LimitFlags)}
    command("x", max_calls=3)


def commands_of(group: typer.Typer) -> Iterator[Callable[..., Any]]:
    yield from (command.callback for command in group.registered_commands if command.callback is not None)
    for other in group.registered_groups:
        assert other.typer_instance is not None
        yield from commands_of(other.typer_instance)


def test_whatever_uses_the_cache_can_do_without_and_bound_it() -> None:
    """`cache show` and `cache clear` have a folder to look at, and use nothing in it."""
    offered = {command: {*inspect.signature(command).parameters} for command in commands_of(app)}
    users = [command for command, names in offered.items() if "cache_dir" in names and len(names) > 4]
    assert {command.__name__ for command in users} == {
        "check", "correct", "trust", "distractors", "experiment", "serve", "mcp", "responses", "factscore", "mixedqa",
        "longfact", "prompts",
    }  # fmt: skip
    for command in users:
        assert offered[command] >= {"cache", "cache_dir", "cache_mb", "cache_days"}, command


def test_the_help_of_plan_names_every_plan() -> None:
    option = get_args(flags.Plan)[1]
    plans = {one for part in get_args(CheckSettings.model_fields["plan"].annotation) for one in get_args(part)}
    assert set(option.metavar.split("|")) == plans - {"auto"}
