"""Plain-text help with grouped options, up to 80 columns wide, and one-line usage errors."""

from __future__ import annotations

import re
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

UsageError = cast("type[Exception]", typer.BadParameter.__base__)
"""The base class of usage errors, for which typer has no public name."""
NO_COMMAND = 2
_TYPE = re.compile(r"<(?:list\[)?([^\]>]+?)(?: range)?\]?>")
_KINDS = {"int": "N", "float": "NUMBER", "str": "TEXT", "path": "PATH"}
_OF_DOCUMENTS = ("--docs", "--corpus", "--documents")
"""Each command accepts some of these flags, which are too dissimilar for typer to suggest the right one."""
_WHERE = {"argument": "Arguments", "option": "Options"}
ALL = "--help-all"
LONG = 20
"""If a command has more options than this, `--help` shows only the common ones."""
COMMON = frozenset(
    (
        *("--model", "--judge", "--plan", "--base-url", "--subject-model", "--judge-model", "--corpus", "--search"),
        *("--docs", "--documents", "--host", "--port", "--api-key-file", "--budget-usd", "--dry-run", "--limit"),
        *("--json", "--html", "--out", "--run-dir", "--fail-under", "--calibration"),
    )
)
"""`--help` always shows these options and those without a panel."""


class PlainCommand(TyperCommand):
    """Shows options without boxes, which would take up two thirds of the width."""

    shows_all = False

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if ALL in args:
            self.shows_all, args = True, ["--help"]
        return super().make_context(info_name, args, parent, **extra)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        parameters, n_left_out = self.get_params(ctx), 0
        shows_all = self.shows_all or len(parameters) <= LONG
        for parameter in parameters:
            shown, panel = parameter.get_help_record(ctx), getattr(parameter, "rich_help_panel", None)
            if shown is None:
                continue
            if panel is None or shows_all or not COMMON.isdisjoint(parameter.opts):
                title = panel or _WHERE[parameter.param_type_name]
                panels.setdefault(title, []).append((_with_kind(shown[0]), shown[1]))
            else:
                n_left_out += 1
        if n_left_out:
            panels.setdefault(_WHERE["option"], []).append((ALL, f"Show this message with {n_left_out} more options."))
        for title, flags in panels.items():
            with formatter.section(title):
                formatter.write_dl(flags)


class PlainGroup(TyperGroup):
    """Shows each command's help line in full. Without arguments, prints the help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            typer.echo(ctx.get_help())
            raise typer.Exit(NO_COMMAND)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 -- click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help or "") for name, command in self.commands.items()])


def _with_kind(shown: str) -> str:
    if not shown.startswith("-"):
        return shown.partition(" <")[0]
    return _TYPE.sub(lambda found: _KINDS.get(found[1].lower(), found[1]), shown)


def usage_complaint(error: Any) -> str:
    """Says in one line what is wrong with the command, and where to find its help."""
    said = _other_name(error) or error.format_message().partition(", unable to parse")[0].rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "factloop"
    return f"{said[:1].lower()}{said[1:]}; see `{command} --help`"


def _other_name(error: Any) -> str:
    typed = getattr(error, "option_name", "") if hasattr(error, "possibilities") else ""
    if typed not in _OF_DOCUMENTS:
        return ""
    known = [name for one in error.ctx.command.params for name in one.opts if name in _OF_DOCUMENTS]
    return f"no such option: {typed}; for documents, use {' or '.join(known)}" if known else ""
