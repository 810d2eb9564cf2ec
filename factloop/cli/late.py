"""Commands whose modules are imported when they are asked for, so that `factloop --help` answers at once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from factloop.cli.help import PlainCommand


class LateCommand(TyperCommand):
    """Stands for a command in the help of its group. Its own flags, help and work are those of its function."""

    home: str
    """`package.module:function`."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        return load_command(self.home).make_context(*args, **extra)


def add_command(group: typer.Typer, name: str, home: str, about: str) -> None:
    """Adds the command of this name to a group. `about` is its line in the group's help."""

    def stand_in() -> None:
        raise AssertionError("the command itself runs")

    kind = type("LateCommand", (LateCommand,), {"home": home})
    group.command(name, help=about, cls=kind)(stand_in)


def load_command(home: str) -> Any:
    """The command, with its flags."""
    module, _, function = home.partition(":")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(cls=PlainCommand)(getattr(import_module(module), function))
    return typer.main.get_command(alone)
