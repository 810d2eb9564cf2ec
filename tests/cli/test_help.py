from __future__ import annotations

import re
from pathlib import Path

import pytest

from factloop.cli.app import COMMANDS, GROUPS, load_command
from tests.cli.command import Command

WIDTH = 80
NAMES = ["", *GROUPS, *COMMANDS]


@pytest.fixture(autouse=True)
def _terminal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 -- it clears variables
    monkeypatch.setenv("COLUMNS", str(WIDTH))


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_the_terminal_and_cuts_no_word(factloop: Command, name: str) -> None:
    shown = factloop(*name.split(), "--help")
    assert shown.code == 0
    assert max(len(line) for line in shown.out.splitlines()) <= WIDTH
    assert shown.out.isascii()
    assert not re.search("<[a-z]", shown.out)


def test_the_help_of_a_long_command_shows_the_common_options_and_how_to_see_the_others(factloop: Command) -> None:
    shown = factloop("check", "--help").out
    assert [factloop(*words, "-h").out for words in ([], ["check"])] == [factloop("--help").out, shown]
    assert factloop("eval", "-h").code == 0
    assert {"--docs", "--model", "--html", "--help-all"} <= set(shown.split())
    assert "--concurrency" not in shown
    assert len(re.findall("^  -", shown, re.MULTILINE)) <= 20


@pytest.mark.parametrize("group", ["", "eval", "research", "research cascade"])
def test_a_group_alone_shows_its_help(factloop: Command, group: str) -> None:
    shown = factloop(*group.split())
    assert (shown.code, shown.err) == (2, "")
    assert "Commands:\n" in shown.out


NUMBERS = [
    (name, option.opts[0])
    for name in COMMANDS
    for option in load_command(name).params
    if option.param_type_name == "option" and not option.is_flag and option.bare_type() in {"int", "float"}
]
