"""The multiple-choice questions of TrustBC on the terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from factloop.agents.trustscore.records import ConsistencyCheck, Option, OptionKind, TrustBC
from factloop.reports.terminal_parts import WIDE, one_line
from factloop.reports.visible import visible
from factloop.trust.views import figures as trust_figures
from factloop.trust.views.words import Belief

BELIEF_STYLES = {Belief.CONSISTENT: "cyan", Belief.INCONSISTENT: "bold magenta", Belief.UNSCORED: "yellow"}


def check_blocks(bc: TrustBC, width: int) -> Group:
    """All checks of an answer, an empty line between them."""
    blocks = [part for check in bc.checks for part in (_check(check, bc, width), Text())]
    return Group(*blocks[:-1])


def _check(check: ConsistencyCheck, bc: TrustBC, width: int) -> Group:
    """One check: what was chosen, and the options in the order shown, `>` before the one chosen."""
    belief = trust_figures.belief_of_check(check)
    head = Text(f"{belief.sign} Check {check.number}: {trust_figures.choice(check)}", style=BELIEF_STYLES[belief])
    if not check.counted:
        head.append(" (not counted)", style="dim")
    reply = [Text(f"  It said: {one_line(check.reply)}")] if check.reply else []
    return Group(head, *reply, _options(check, bc, width >= WIDE))


def _options(check: ConsistencyCheck, bc: TrustBC, wide: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True, width=3)
    if check.letter_probabilities is not None:
        table.add_column(no_wrap=True, width=4)
    table.add_column()
    if wide:
        table.add_column(style="dim")
    for option in check.options:
        table.add_row(*_cells(option, check, bc, wide), style="bold" if option.letter == check.chosen else "")
    return table


def _cells(option: Option, check: ConsistencyCheck, bc: TrustBC, wide: bool) -> list[Text | Group]:
    cells: list[Text | Group] = [Text(f"{'>' if option.letter == check.chosen else ' '} {option.letter}")]
    if check.letter_probabilities is not None:
        cells.append(Text(trust_figures.number(check.letter_probabilities.get(option.letter))))
    shown = trust_figures.option_marked(option, check, bc)
    text = Text.assemble(visible(shown.before), (visible(shown.marked), "underline"), visible(shown.after))
    aside = Text(_aside(option, bc), style="dim not bold")
    if wide:
        return [*cells, text, aside]
    return [*cells, Group(text, aside) if aside else text]


def _aside(option: Option, bc: TrustBC) -> str:
    """A note on the origin of an option: the answer under test, or how the distractor was made."""
    if option.kind is OptionKind.RESPONSE:
        return "= the answer"
    made = trust_figures.distractor_of(option, bc)
    return one_line(f"{trust_figures.replacement(made)} ({trust_figures.making(made)})") if made else ""
