"""The newest part of the changelog names only what exists, and every command is told somewhere."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

import factloop
from factloop import guarding, testing
from factloop.cli.app import COMMANDS, load_command
from factloop.integrations import langchain
from tests.documents.shown import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
_, NEWEST, *_ = re.split(r"^## ", TEXT, flags=re.MULTILINE)
ADDED = next((part for part in NEWEST.split("\n### ") if part.startswith("Added")), "")
CODE = re.findall(r"`([^`]+)`", ADDED)
PUBLIC = {*factloop.__all__, *guarding.__all__, *testing.__all__, *langchain.__all__}


def named(pattern: str) -> list[str]:
    """All that matches in the code of *Added*, once."""
    return sorted({found for code in CODE for found in re.findall(pattern, code)})


def flags_of(command: str) -> set[str]:
    options = load_command(command).params
    return {flag for option in options for flag in (*option.opts, *option.secondary_opts)}


@pytest.fixture(scope="module")
def flags() -> set[str]:
    return {flag for command in COMMANDS for flag in flags_of(command)}


@pytest.mark.parametrize("flag", named(r"--[a-z-]+"))
def test_each_flag_exists(flag: str, flags: set[str]) -> None:
    assert flag in flags


@pytest.mark.parametrize("name", named(r"^(?:[A-Z][a-z]+){2,}|^(?:assert|build|factcheck)_\w+"))
def test_each_name_is_public(name: str) -> None:
    assert name in PUBLIC


@pytest.mark.parametrize("module", named(r"^factloop\.(?!toml)[a-z_.]+"))
def test_each_module_exists(module: str) -> None:
    assert import_module(module).__name__ == module


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "eval responses"])
def test_each_command_is_told(command: str) -> None:
    words = {word for code in re.findall(r"`([^`]+)`", TEXT) for word in code.split()}
    assert set(command.split()) <= words


def test_no_line_stands_twice_or_is_too_long() -> None:
    lines = re.findall(r"^- .+(?:\n  .+)*", NEWEST, re.MULTILINE)
    assert len(set(lines)) == len(lines)
    assert [line for line in TEXT.splitlines() if len(line) > 120] == []
