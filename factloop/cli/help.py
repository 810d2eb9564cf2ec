"""Help in plain lines that fit 80 columns, flags by panel, and wrong flags told in one line."""

from __future__ import annotations

import re
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""Raised for every wrong flag, argument or command; typer gives it no public name."""
NO_COMMAND = 2
_TYPE = re.compile(r"<(?:list\[)?([^\]>]+?)(?: range)?\]?>")
"""A value's type as typer shows it: `<int>`, `<float range>`, `<list[str]>`, `<one|other>`."""
_KINDS = {"int": "N", "float": "NUMBER", "str": "TEXT", "path": "PATH"}
_OF_DOCUMENTS = ("--docs", "--corpus", "--documents")
"""Flags for documents, which differ by command and are spelt too differently to be proposed for each other."""
_WHERE = {"argument": "Arguments", "option": "Options"}


class PlainCommand(TyperCommand):
    """Boxes with a column for each part of a flag leave a third of the width to its text, so there are none."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            shown = parameter.get_help_record(ctx)
            if shown is not None:
                panel = getattr(parameter, "rich_help_panel", None) or _WHERE[parameter.param_type_name]
                panels.setdefault(panel, []).append((_with_kind(shown[0]), shown[1]))
        for title, flags in panels.items():
            with formatter.section(title):
                formatter.write_dl(flags)


class PlainGroup(TyperGroup):
    """Shows the line of each command whole; asked for nothing it shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            typer.echo(ctx.get_help())
            raise typer.Exit(NO_COMMAND)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 -- click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help or "") for name, command in self.commands.items()])


def _with_kind(shown: str) -> str:
    """A flag with what is typed for its value in place of a type. An argument's name says it."""
    if not shown.startswith("-"):
        return shown.partition(" <")[0]
    return _TYPE.sub(lambda found: _KINDS.get(found[1].lower(), found[1]), shown)


def usage_complaint(error: Any) -> str:
    """What is wrong with a command as it was typed, and where its flags are told, in one line."""
    said = _other_name(error) or error.format_message().partition(", unable to parse")[0].rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "factloop"
    return f"{said[:1].lower()}{said[1:]}; see {command} --help"


def _other_name(error: Any) -> str:
    """The flag of this command for one that only other commands have; empty for any other complaint."""
    typed = getattr(error, "option_name", "") if hasattr(error, "possibilities") else ""
    if typed not in _OF_DOCUMENTS:
        return ""
    known = [name for one in error.ctx.command.params for name in one.opts if name in _OF_DOCUMENTS]
    return f"no such option: {typed}; here documents are given by {' or '.join(known)}" if known else ""
