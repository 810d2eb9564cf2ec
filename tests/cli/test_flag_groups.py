from __future__ import annotations

import inspect
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import pytest
import typer

from factloop.cli import flags
from factloop.cli.flag_groups import (
    CheckFlags,
    DistractorFlags,
    LimitFlags,
    RecordingFlags,
    ScoreFlags,
    SpendingFlags,
    TrustFlags,
    with_flags,
)
from factloop.settings import CheckSettings
from factloop.trust_settings import TrustSettings


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


@pytest.mark.parametrize("command", ["experiment", "serve"])
def test_what_keeps_its_answers_to_itself_offers_no_cache(command: str) -> None:
    offered = {*inspect.signature(import_module(f"factloop.cli.commands.{command}").__dict__[command]).parameters}
    assert offered >= {*get_type_hints(SpendingFlags)}
    assert "cache" not in offered
