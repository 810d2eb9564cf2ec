"""Tables of an audit on the terminal: figures side by side, or under each other where there is no room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factloop.evaluation.audit.views.tables import Cell
from factloop.reports.terminal_parts import one_line, print_section

LEAST_NAME = 12
"""Columns that the name at the beginning of a line takes at least; longer ones are folded."""
_MARGIN, _GAP = 2, 1


@dataclass(frozen=True)
class Block:
    """Lines that belong together, under a heading of their own."""

    heading: str
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]
    """Each with its name."""


@dataclass(frozen=True)
class Grid:
    title: str
    heads: tuple[tuple[str, int], ...]
    """Of the figures, with the columns of the terminal that they take."""
    blocks: tuple[Block, ...]

    @property
    def is_empty(self) -> bool:
        return not any(block.lines for block in self.blocks)


def print_grid(console: Console, grid: Grid) -> None:
    is_wide = console.width >= _MARGIN + LEAST_NAME + sum(width + _GAP for _, width in grid.heads)
    blocks = [block for block in grid.blocks if block.lines]
    parts = [_side_by_side(grid, block, has_heads=not place) for place, block in enumerate(blocks)] if is_wide else []
    print_section(console, grid.title, Group(*(parts or [_stacked(grid, block) for block in blocks])))


def _side_by_side(grid: Grid, block: Block, *, has_heads: bool) -> RenderableType:
    table = Table(box=None, padding=(0, 0, 0, _GAP), pad_edge=False, expand=True, show_header=has_heads)
    table.add_column("", overflow="fold", ratio=1)
    for head, width in grid.heads:
        table.add_column(head, overflow="fold", justify="right", width=width, header_style="dim", vertical="top")
    for name, cells in block.lines:
        table.add_row(Text(one_line(name)), *map(_cell, cells))
    return Group(Text(one_line(block.heading), style="bold"), table) if block.heading else table


def _stacked(grid: Grid, block: Block) -> Text:
    lines = [(one_line(block.heading), "bold")] if block.heading else []
    for name, cells in block.lines:
        lines.append((one_line(name), ""))
        lines += [
            (f"  {head}: {' '.join(_texts(cell))}", "dim") for (head, _), cell in zip(grid.heads, cells, strict=True)
        ]
    return Text("\n").join(Text(*line) for line in lines)


def _cell(cell: Cell) -> Text:
    text, *notes = _texts(cell)
    return Text.assemble((text, "yellow" if cell.is_undefined else ""), *((f"\n{note}", "dim") for note in notes))


def _texts(cell: Cell) -> Iterator[str]:
    yield one_line(cell.text)
    if cell.note:
        yield one_line(cell.note)
