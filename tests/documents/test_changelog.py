from __future__ import annotations

import re
from importlib import import_module

import factloop
from factloop import guarding, testing
from factloop.cli.app import COMMANDS, load_command
from factloop.integrations import langchain
from tests.documents.shown import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
_, NEWEST, *_ = re.split(r"^## ", TEXT, flags=re.MULTILINE)
ADDED = next((part for part in NEWEST.split("\n### ") if part.startswith("Added")), "")
PUBLIC = {*factloop.__all__, *guarding.__all__, *testing.__all__, *langchain.__all__}


def named(pattern: str) -> set[str]:
    return {found for code in re.findall(r"`([^`]+)`", ADDED) for found in re.findall(pattern, code)}


def test_what_is_added_exists() -> None:
    options = [option for command in COMMANDS for option in load_command(command).params]
    assert named(r"--[a-z-]+") <= {flag for one in options for flag in (*one.opts, *one.secondary_opts)}
    assert named(r"^(?:[A-Z][a-z]+){2,}|^(?:assert|build|factcheck)_\w+") <= PUBLIC
    for module in named(r"^factloop\.(?!toml)[a-z_.]+"):
        import_module(module)


def test_each_command_is_told() -> None:
    words = {word for code in re.findall(r"`([^`]+)`", TEXT) for word in code.split()}
    assert {word for command in COMMANDS if command != "eval responses" for word in command.split()} <= words


def test_no_line_stands_twice_or_is_too_long() -> None:
    lines = re.findall(r"^- .+(?:\n  .+)*", NEWEST, re.MULTILINE)
    assert len(set(lines)) == len(lines)
    assert [line for line in TEXT.splitlines() if len(line) > 120] == []
