"""`factloop labels answers` and `labels agree`: sheets for two annotators of a built data set, and their agreement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from factloop.cli.exits import DONE, UNSCORED, messages_console
from factloop.cli.inputs import name_of_data
from factloop.cli.outputs import FILLED_IN, STANDARD_OUTPUT, Terminal, refuse_existing, say, try_outputs, write_files
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, to_json_line
from factloop.evaluation.mixedqa.annotators import (
    SHEET,
    AnnotatorAgreement,
    SystemKappa,
    divide,
    load_built,
    put_together,
    read_sheet,
    response_id,
    sheet_rows,
)
from factloop.reports.downloads import csv_text
from factloop.reports.figures import percent, plural
from factloop.reports.visible import visible


@dataclass(frozen=True)
class AnswersAsk:
    """Arguments of `labels answers`."""

    data: str
    out: str
    second: str
    shared: int | None
    seed: int
    quiet: bool


@dataclass(frozen=True)
class AgreeAsk:
    """Arguments of `labels agree`."""

    first: str
    second: str
    data: str
    out: str | None
    decided: str | None
    undecided: str | None
    seed: int
    json: str | None
    quiet: bool


def run_answers(ask: AnswersAsk) -> int:
    """Writes the two sheets; returns the exit code. Raises FactloopError for wrong input."""
    if STANDARD_OUTPUT in (ask.out, ask.second):
        raise ConfigError("--out and --second are files: each annotator fills in one, unseen by the other")
    try_outputs((ask.out, ask.second), (ask.data,))
    refuse_existing((ask.out, ask.second), FILLED_IN)
    questions = load_built(ask.data)
    both = divide(questions, ask.shared, ask.seed)
    rows = [list(sheet_rows(questions, ids, ask.seed)) for ids in both]
    places = (ask.out, ask.second)
    write_files({place: partial(csv_text, SHEET, of_one) for place, of_one in zip(places, rows, strict=True)})
    if not ask.quiet:
        shared = len(set(both[0]) & set(both[1]))
        said = f"{len(rows[0]):,} and {plural(len(rows[1]), 'response')}, {plural(shared, 'question')} on both"
        where = f"{ask.out} and {ask.second}"
        say(lambda: Terminal().print(f"{said}: fill in `human_correct` (1 or 0) in {visible(where)}", soft_wrap=True))
    return DONE


def run_agree(ask: AgreeAsk) -> int:
    """Reads the sheets, counts and writes; returns the exit code. Raises FactloopError for wrong input."""
    read = [one for one in (ask.first, ask.second, ask.data, ask.decided) if one is not None]
    try_outputs((ask.out, ask.undecided, ask.json), read)
    refuse_existing((ask.undecided,), FILLED_IN)
    questions = load_built(ask.data)
    known = {response_id(one.id, by.system): by for one in questions for by in one.responses}
    first, second = read_sheet(ask.first, known), read_sheet(ask.second, known)
    decided = {} if ask.decided is None else read_sheet(ask.decided, known)
    found = put_together(questions, first, second, decided, data=name_of_data(ask.data), seed=ask.seed)
    differing = set(found.undecided)
    rows = [row for row in sheet_rows(questions, [one.id for one in questions], ask.seed) if row[0] in differing]
    write_files(
        {
            ask.out: lambda: "".join(map(to_json_line, found.items)),
            ask.undecided: partial(csv_text, SHEET, rows),
            ask.json: partial(to_json, found.agreement),
        }
    )
    if not ask.quiet and STANDARD_OUTPUT not in (ask.out, ask.undecided, ask.json):
        say(lambda: Terminal().print("\n".join(_in_words(found.agreement)), soft_wrap=True))
    if ask.out is not None and not found.items:
        messages_console().print("factloop: no question has a label for each of its responses", soft_wrap=True)
        return UNSCORED
    return DONE


def _in_words(found: AnnotatorAgreement) -> Iterator[str]:
    yield f"Cohen’s kappa, {percent(found.level)} intervals by {found.n_resamples:,} resamples of whole questions:"
    yield from map(_system_in_words, found.systems)
    yield f"{found.n_first:,} responses judged by the first, {found.n_second:,} by the second"
    if found.n_differing:
        yield f"{plural(found.n_differing, 'response')} judged differently: a third decides (--undecided, --decided)"
    if found.n_unlabelled:
        yield f"{plural(found.n_unlabelled, 'response')} judged by neither"
    yield f"{plural(found.n_questions, 'question')} with a label for each response"


def _system_in_words(one: SystemKappa) -> str:
    named = visible(one.system) if one.system is not None else "all systems"
    kappa, table = one.kappa, one.table
    alike = table.both_correct + table.both_wrong
    if kappa.value is None:
        return f"  {named}: undefined: {kappa.why} ({alike:,} of {kappa.n:,} alike)"
    interval = "" if kappa.low is None or kappa.high is None else f" [{kappa.low:.2f}, {kappa.high:.2f}]"
    return f"  {named}: {kappa.value:.2f}{interval} ({alike:,} of {plural(kappa.n, 'response')} alike)"
