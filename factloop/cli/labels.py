"""`factloop labels`: sheets for people to fill in, and what their answers come to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.outputs import FILLED_IN, STANDARD_OUTPUT, Terminal, refuse_existing, say, try_outputs, write_files
from factloop.core.errors import ConfigError, DataError
from factloop.core.files.json import to_json
from factloop.evaluation.labels.adjudication import adjudicate, read_answers
from factloop.evaluation.labels.disagreements import SHEET, DisagreementKey, draw_disagreements
from factloop.evaluation.labels.draws import DrawnPart
from factloop.evaluation.labels.exporting import UNNAMED, ExportedLabels, export_labels, reports_by_claims
from factloop.evaluation.labels.people import DisagreementPolicy, PeopleAgreement
from factloop.evaluation.labels.sheets import SHEET as NEXT_SHEET
from factloop.evaluation.labels.sheets import NextLabels, draw_next, read_known
from factloop.evaluation.labels.views.html import render_disagreements_html, render_labels_html
from factloop.evaluation.labels.views.terminal import print_adjudication
from factloop.evaluation.labels.widths import WidthByLabels
from factloop.evaluation.runs.reading import read_run
from factloop.reports.downloads import csv_text
from factloop.reports.figures import percent, plural
from factloop.reports.visible import visible


@dataclass(frozen=True)
class DisagreeAsk:
    """Arguments of `labels disagree`."""

    run: str
    out: str | None
    html: str | None
    key: str
    n: int
    seed: int
    quiet: bool


@dataclass(frozen=True)
class AdjudicateAsk:
    """Arguments of `labels adjudicate`."""

    answers: str
    key: str
    people_usd: float
    level: float
    json: str | None
    quiet: bool


def run_disagree(ask: DisagreeAsk) -> int:
    """Draws and writes; returns the exit code. Raises FactloopError for wrong input."""
    if STANDARD_OUTPUT in (ask.out, ask.html, ask.key):
        raise ConfigError("--out, --html and --key are files: the adjudicator shall not see the key")
    _want_one(ask.out, ask.html, "answer")
    try_outputs((ask.out, ask.html, ask.key), (ask.run,))
    refuse_existing((ask.out,), FILLED_IN)
    refuse_existing((ask.key,), "a sheet that a person filled in may need it")
    with stopped_with("Nothing was written; run the command again.", messages_console()):
        run = read_run(ask.run)
        found = draw_disagreements(
            run.responses(), ask.n, seed=ask.seed, data=run.summary.data, cost_usd=run.summary.usage.cost_usd
        )
        drawn, key = found.drawn, found.key
        write_files(
            {
                ask.out: partial(csv_text, SHEET, [one.row for one in drawn]),
                ask.html: partial(render_disagreements_html, drawn, data=key.data),
                ask.key: partial(to_json, key),
            }
        )
    if not ask.quiet:
        n = f"{len(drawn):,} of {plural(key.n_differing, 'disagreement')} among {key.n_labelled:,} labelled claims"
        to_do = [f"fill in `answer` (first, second, neither) in {ask.out}"] if ask.out is not None else []
        to_do += [f"answer on the page {ask.html}"] if ask.html is not None else []
        say(lambda: Terminal().print(f"{n}: {', or '.join(to_do)}", soft_wrap=True))
    return DONE


def _want_one(out: str | None, html: str | None, to_do: str) -> None:
    if out is None and html is None:
        raise ConfigError(f"name what is to be written: --out for a sheet, --html for a page to {to_do} on")


def run_adjudicate(ask: AdjudicateAsk) -> int:
    """Reads the answers, counts and writes; returns the exit code. Raises FactloopError for wrong input."""
    if not 0.0 < ask.level < 1.0:
        raise ConfigError(f"--level {ask.level:g}: a share between 0 and 1, such as 0.95")
    try_outputs((ask.json,), (ask.answers, ask.key))
    key = _key(ask.key)
    found = adjudicate(read_answers(ask.answers, key), key, people_usd=ask.people_usd, level=ask.level)
    write_files({ask.json: partial(to_json, found)})
    if not ask.quiet and ask.json != STANDARD_OUTPUT:
        say(lambda: print_adjudication(found, Terminal()))
    return DONE


@dataclass(frozen=True)
class NextAsk:
    """Arguments of `labels next`."""

    run: str
    out: str | None
    html: str | None
    labels: str | None
    n: int
    half_width: float | None
    system: str | None
    seed: int
    quiet: bool


def run_next(ask: NextAsk) -> int:
    """Draws and writes; returns the exit code. Raises FactloopError for wrong input."""
    if ask.half_width is not None and not 0.0 < ask.half_width < 0.5:
        raise ConfigError(f"--half-width {ask.half_width:g}: above 0 and below 0.5, such as 0.03")
    _want_one(ask.out, ask.html, "label")
    try_outputs((ask.out, ask.html), (ask.run, ask.labels))
    refuse_existing((ask.out,), FILLED_IN)
    known = None if ask.labels is None else read_known(ask.labels)
    with stopped_with("Nothing was written; run the command again.", messages_console()):
        run = read_run(ask.run)
        found = draw_next(
            run.responses(),
            ask.n,
            data=run.summary.data,
            seed=ask.seed,
            known=known,
            half_width=ask.half_width,
            system=ask.system,
        )
        sheet = partial(csv_text, NEXT_SHEET, [one.row for one in found.drawn])
        write_files({ask.out: sheet, ask.html: partial(render_labels_html, found.drawn, data=run.summary.data)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.out, ask.html):
        say(lambda: Terminal().print("\n".join(_next_words(ask, found)), soft_wrap=True))
    return DONE


def _next_words(ask: NextAsk, found: NextLabels) -> Iterator[str]:
    learnt = _learnt_words(found)
    before = f" without a label ({found.n_before:,} have one; " if found.n_before else " ("
    of = "" if ask.system is None else visible(f" of {ask.system}")
    drawn = f"{len(found.drawn):,} of {plural(found.n_claims - found.n_before, 'claim')}{of}{before}{learnt})"
    to_do = [f"fill in `label` (1, 0 or agree) in {ask.out}"] if ask.out is not None else []
    to_do += [f"label them on the page {ask.html}"] if ask.html is not None else []
    yield f"{drawn}: {', or '.join(to_do)}"
    if ask.half_width is not None:
        yield from _width_words(ask.half_width, found)


def _width_words(half_width: float, found: NextLabels) -> Iterator[str]:
    """How many labels of each system give the half width, as each is corrected by its own."""
    can = [(one, one.n) for one in found.needed if one.n is not None]
    if can:
        alone = len(found.needed) == 1
        each = [
            f"{plural(n, 'label')}{'' if alone else f' of {one.system}'}"
            f"{f' ({one.n_before:,} there)' if one.n_before else ''}"
            for one, n in can
        ]
        more = " more" if any(one.n_before for one in found.needed) else ""
        drawn = "" if alone or found.n_to_draw is None else f"; a draw of about {found.n_to_draw:,}{more} has them"
        guess = "" if found.has_learnt else ", as far as can be told without labels to learn from"
        yield visible(f"About {', '.join(each)} drawn so give ±{half_width:g} at 95%{guess}{drawn}.")
    for one in found.needed:
        if one.n is None:
            yield visible(f"{one.system}: no number of labels gives ±{half_width:g}. {_least_words(one.width)}")


def _least_words(width: WidthByLabels) -> str:
    reached = f"±{width.half_width(width.n_claims):.2g}"
    all_labelled = f"With all of its {plural(width.n_claims, 'claim')} labelled it is about {reached}"
    if not width.raw:
        return f"{all_labelled}. Its verdicts are all alike, so that it cannot be told how much its prompts differ."
    return (
        f"{all_labelled}, of which its {plural(width.n_prompts, 'prompt')} alone leave ±{width.raw:.2g}, as in the raw "
        "interval. More prompts narrow that; labels narrow the precision of this run alone."
    )


def _learnt_words(found: NextLabels) -> str:
    pilot = found.pilot
    if pilot is None:
        return "no labels to learn from"
    if not found.has_learnt:
        return f"{plural(pilot.n, 'label')}: too few to learn from, {found.n_to_learn} are needed"
    (wrong, called), (missed, rejected) = pilot.wrong(1), pilot.wrong(0)
    return (
        f"learnt from {plural(pilot.n, 'label')}: of {called:,} claims called supported {wrong:,} are not, "
        f"of {rejected:,} called not supported {missed:,} are"
    )


@dataclass(frozen=True)
class ExportAsk:
    """Arguments of `labels export`."""

    sheets: tuple[str, ...]
    out: str
    reports: tuple[str, ...]
    systems: tuple[str, ...]
    """A name for all files, and FILE=NAME for one."""
    differing: DisagreementPolicy | None
    json: str | None
    quiet: bool


def run_export(ask: ExportAsk) -> int:
    """Writes the labels of sheets and pages; returns the exit code. Raises FactloopError for wrong input."""
    system, systems = _systems(ask)
    if ask.json is not None and ask.differing is None:
        raise ConfigError("--json is of how far people agree: say with --differing what becomes of other claims")
    try_outputs((ask.out, ask.json), (*ask.sheets, *ask.reports))
    found = export_labels(
        ask.sheets, system=system, systems=systems, reports=reports_by_claims(ask.reports), differing=ask.differing
    )
    write_files(
        {
            ask.out: lambda: "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found.rows),
            ask.json: lambda: "" if found.people is None else to_json(found.people),
        }
    )
    for part in found.unfinished:
        messages_console().print(f"factloop: {visible(_unfinished_words(part))}", soft_wrap=True)
    if len(found.runs) > 1:
        messages_console().print(f"factloop: {visible(_runs_words(found))}", soft_wrap=True)
    if not ask.quiet and STANDARD_OUTPUT not in (ask.out, ask.json):
        said = ["; ".join(_export_words(ask, found)), *(_people_words(found.people) if found.people else ())]
        say(lambda: Terminal().print("\n".join(said), soft_wrap=True))
    return DONE


def _systems(ask: ExportAsk) -> tuple[str, dict[str, str]]:
    """The system of files that are not named, and that of each that is."""
    of_file, of_rest = dict[str, str](), list[str]()
    for given in ask.systems:
        place = next((place for place in ask.sheets if given.startswith(f"{place}=")), None)
        name = given if place is None else given.removeprefix(f"{place}=")
        if not name.strip():
            raise ConfigError("--system: a name is needed, or FILE=NAME")
        if place is None:
            of_rest.append(name)
        elif of_file.setdefault(place, name) != name:
            raise ConfigError(f"--system: {place} has two")
    if len(of_rest) > 1:
        raise ConfigError(f"--system: of {', '.join(of_rest)} say which file each wrote, as FILE=NAME")
    return (of_rest or [UNNAMED])[0], of_file


def _export_words(ask: ExportAsk, found: ExportedLabels) -> Iterator[str]:
    how = f" ({found.n_blind:,} given blind, {found.n_seen:,} with the verdict in sight)" if found.n_blind else ""
    yield f"{plural(len(found.rows), 'label')} in {ask.out}{how}"
    if found.n_empty:
        yield f"{plural(found.n_empty, 'claim')} without a label left out"
    for label, n in sorted(found.left_out.items()):
        yield f"{n:,} labelled {label.value.replace('_', ' ')} left out"


def _unfinished_words(part: DrawnPart) -> str:
    of = "" if part.draw is None else f" of {part.name}"
    return (
        f"{part.n_open:,} of {plural(part.n_drawn, 'claim')}{of} have no label. Sheets and pages are in random "
        "order, so labels from the top on are a smaller draw, and count as one. Claims that were picked in any other "
        "way are no sample: label the rest."
    )


def _runs_words(found: ExportedLabels) -> str:
    each = "; ".join(f"{n:,} of {data}, judged by {judge}" for (data, judge), n in found.runs.items())
    return (
        f"these are labels of {len(found.runs):,} runs ({each}). A calibration takes their verdicts for those of one "
        "checker on claims of one kind: export them apart where they are not."
    )


def _people_words(found: PeopleAgreement) -> Iterator[str]:
    for one in found.pairs:
        share = "" if one.alike.value is None else f"{percent(one.alike.value)} of "
        kappa, n = one.kappa, plural(one.alike.n, "claim")
        shown = f"undefined ({kappa.why})" if kappa.value is None else f"{kappa.value:.2f}"
        if kappa.low is not None and kappa.high is not None:
            shown += f" [{kappa.low:.2f}, {kappa.high:.2f}]"
        yield visible(f"{one.first} and {one.second}: {share}{n} alike, Cohen’s kappa {shown}")
    yield (
        f"{plural(found.n_shared, 'claim')} labelled by two people or more, {found.n_differing:,} differently, "
        f"{found.n_left_out:,} of them left out"
    )


def _key(place: str) -> DisagreementKey:
    try:
        return DisagreementKey.model_validate_json(Path(place).read_bytes())
    except (OSError, ValueError) as error:
        why = "is not the key of a sheet" if isinstance(error, ValidationError) else f"cannot be read ({error})"
        raise DataError(f"{why}; name what labels disagree wrote with --key", path=place) from error
