"""Writes a report's tables as LaTeX (for papers) or CSV (for spreadsheets), and its pictures as SVG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from factloop.core.errors import ConfigError
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
    """Returns all tables that a report shows in the terminal, as LaTeX if the file name ends in `.tex`, or else as CSV.

    In LaTeX, numbers are rounded as in the terminal. The document needs the `booktabs` package and an engine that
    supports Unicode. In CSV, numbers are not rounded. If there are several tables, each is preceded by its title.
    """
    kept = KeptSheets()
    show(kept)
    if Path(name).suffix.lower() == ".tex":
        return "\n".join(map(sheet_latex, kept.sheets))
    if len(kept.sheets) == 1:
        return sheet_csv(kept.sheets[0])
    return "\r\n".join(f"{csv_text([sheet.title], ())}{sheet_csv(sheet)}" for sheet in kept.sheets)


def picture_files(page: Callable[[], object], name: str) -> dict[str | None, Callable[[], str | bytes]]:
    """Maps file names to functions that return the pictures, in the same order as on the page.

    A `.pdf` file contains all pictures, each on a separate page. An `.svg` file contains only the first one; the second
    has its own file, whose name ends in `-2`, and so on. Raises ConfigError if the page has no pictures.
    """
    from factloop.reports.pictures import as_file, as_pdf, kept_pictures

    with kept_pictures() as kept:
        page()
    if not kept:
        raise ConfigError(f"cannot write {name}: this report has no pictures; use a .tex or .csv file for its tables")
    if Path(name).suffix.lower() == ".pdf":
        return {name: partial(as_pdf, kept)}
    first = Path(name)
    names = (name, *(str(first.with_stem(f"{first.stem}-{number}")) for number in range(2, len(kept) + 1)))
    return {file: partial(as_file, one.svg) for file, one in zip(names, kept, strict=True)}


def sheet_latex(sheet: Sheet) -> str:
    """Returns the sheet as a `table` environment with its title as the caption. Empty columns are omitted."""
    filled = {place for line in sheet.lines for place, cell in enumerate(line.cells) if cell.text}
    places = [place for place, column in enumerate(sheet.columns) if column.head or place in filled]
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


def _row(cells: Sequence[str]) -> str:
    """Puts `{}` before a bracket or star, which LaTeX would read as an argument of the previous command."""
    row = " & ".join(cells)
    return f"{'{}' if row.lstrip().startswith(('[', '*')) else ''}{row} \\\\"


def _text(cell: Cell) -> str:
    is_bare = cell.interval and cell.note and not cell.note.startswith("[")
    note = f"({cell.note})" if is_bare else cell.note
    return " ".join(part.translate(_LATEX) for part in (cell.text, note) if part)
