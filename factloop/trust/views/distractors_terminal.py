"""The distractors made for one answer on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.agents.trustscore.records import Distractor, DistractorSet
from factloop.reports.figures import calls, cost, plural
from factloop.reports.terminal_parts import LONGEST, Row, notice_rows, print_question, print_section, rows_table
from factloop.reports.visible import visible
from factloop.trust.views import figures as trust_figures
from factloop.trust.views.words import LEVEL_WORDS, SOURCE_WORDS

FEWEST = 3
"""A question shows three distractors."""


def print_distractors(distractor_set: DistractorSet, console: Console) -> None:
    """Prints each distractor with what was put in between [ and ], what it replaces, and where it comes from."""
    print_question(console, distractor_set.question)
    print_section(console, "Response", Text(visible(distractor_set.response) or "(empty)"))
    if distractor_set.distractors:
        print_section(console, "Distractors", _list(distractor_set))
    print_section(console, "Result", rows_table(_rows(distractor_set)))


def _list(distractor_set: DistractorSet) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column()
    for number, one in enumerate(distractor_set.distractors, 1):
        made = f"{trust_figures.replacement(one)} ({trust_figures.making(one)})"
        table.add_row(str(number), Group(_bracketed(one, distractor_set.response), Text(visible(made), style="dim")))
    return table


def _bracketed(distractor: Distractor, response: str) -> Text:
    shown = trust_figures.substituted(distractor, response).near(LONGEST // 2)
    if not shown.marked:
        return Text(visible(shown.before))
    return Text.assemble(visible(shown.before), (f"[{visible(shown.marked)}]", "bold"), visible(shown.after))


def _rows(distractor_set: DistractorSet) -> list[Row]:
    made = distractor_set.distractors
    rows = [("Distractors", Text(f"{len(made):,} of {distractor_set.wanted:,} wanted"))]
    if len(made) < FEWEST:
        rows.append(("", Text(f"Too few for a question, which shows {FEWEST}.", style="yellow")))
    if made:
        rows.append(("Levels", Text(_tally(LEVEL_WORDS[one.level] for one in made))))
        rows.append(("Sources", Text(_tally(SOURCE_WORDS[one.source] for one in made))))
        rows.append(("Checks", Text(f"{plural(len(made) // FEWEST, 'check')} without showing a distractor twice")))
    rows.append(("Seed", Text(str(distractor_set.seed))))
    if distractor_set.usage is not None:
        rows.append(("Spent", Text(f"{calls(distractor_set.usage)}; {cost(distractor_set.usage)}")))
    return rows + notice_rows("Note", distractor_set.notes)


def _tally(words: Iterable[str]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in Counter(words).most_common())
