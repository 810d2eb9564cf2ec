"""One line of a benchmark's table: what is asked for beside what was measured."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.table import Table


@dataclass(frozen=True)
class Row:
    """A measurement, with its target where there is one."""

    group: str
    name: str
    target: str
    measured: str
    is_met: bool | None
    """None for a measurement without a target."""


def data_folder() -> Path:
    """The folder of labelled data: `FACTLOOP_DATA`, by default `../shared/data`."""
    return Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))


def compared(
    group: str, name: str, value: float | None, kind: Literal["at most", "at least"], target: float, form: str = "{:g}"
) -> Row:
    """A number against its bound. A number that could not be measured misses."""
    shown = "nothing to measure" if value is None else form.format(value)
    is_met = value is not None and (value <= target if kind == "at most" else value >= target)
    return Row(group, name, f"{kind} {form.format(target)}", shown, is_met)


def table(title: str, rows: Iterable[Row]) -> Table:
    """The rows as a table for the terminal."""
    shown = Table(title=title, title_justify="left")
    for heading in ("", "measure", "target", "measured", ""):
        shown.add_column(heading, justify="right" if heading in {"target", "measured"} else "left")
    group = ""
    for row in rows:
        if group and row.group != group:
            shown.add_section()
        mark = {True: "[green]pass[/]", False: "[red]miss[/]", None: ""}[row.is_met]
        shown.add_row(row.group if row.group != group else "", row.name, row.target, row.measured, mark)
        group = row.group
    return shown
