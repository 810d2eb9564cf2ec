"""The tables of a report as a file: LaTeX for a paper, CSV for a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from factloop.reports.downloads import csv_text
from factloop.reports.sheet.table import Cell, Sheet, sheet_csv
from factloop.reports.sheet.terminal import KeptSheets

_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "\n": " ",
    }
)


def tables_file(show: Callable[[Console], object], name: str) -> str:
    """All tables that the report shows on a terminal, in a file of this name: `.tex` is LaTeX, all else CSV.

    In LaTeX figures are rounded as printed; it wants the package booktabs and an engine that reads Unicode. In CSV they
    have all their digits.
    """
    kept = KeptSheets()
    show(kept)
    if Path(name).suffix.lower() == ".tex":
        return "\n".join(map(sheet_latex, kept.sheets))
    return "\r\n".join(f"{csv_text([sheet.title], ())}{sheet_csv(sheet)}" for sheet in kept.sheets)


def sheet_file(sheet: Sheet, name: str) -> str:
    """One table in a file of this name."""
    return sheet_latex(sheet) if Path(name).suffix.lower() == ".tex" else sheet_csv(sheet)


def sheet_latex(sheet: Sheet) -> str:
    """The table as a `table` of its own, with its title as the caption. Columns that hold nothing are left out."""
    places = [place for place, column in enumerate(sheet.columns) if column.head or _filled(sheet, place)]
    columns = [sheet.columns[place] for place in places]
    lines: list[str] = []
    for line in sheet.lines:
        lines += [r"\midrule"] * (line.is_total and bool(lines))
        lines.append(_row([_text(line.cells[place]) for place in places]))
    body = [
        r"\begin{table}",
        rf"\caption{{{sheet.title.translate(_LATEX)}}}",
        rf"\begin{{tabular}}{{{''.join('l' if column.is_name else 'r' for column in columns)}}}",
        r"\toprule",
        _row([column.head.translate(_LATEX) for column in columns]),
        r"\midrule",
        *lines,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(body) + "\n"


def _filled(sheet: Sheet, place: int) -> bool:
    return any(line.cells[place].text for line in sheet.lines)


def _row(cells: Sequence[str]) -> str:
    """The row; `{}` keeps a bracket or a star at its start from being an argument of the command before it."""
    row = " & ".join(cells)
    return f"{'{}' if row.lstrip().startswith(('[', '*')) else ''}{row} \\\\"


def _text(cell: Cell) -> str:
    is_bare = cell.interval and cell.note and not cell.note.startswith("[")
    note = f"({cell.note})" if is_bare else cell.note
    return " ".join(part.translate(_LATEX) for part in (cell.text, note) if part)
