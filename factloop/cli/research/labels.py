"""`factloop research labels` writes label sheets for people to fill in, and evaluates completed sheets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from factloop.cli.console import DONE, note, stopped_with
from factloop.cli.options import ARGUMENT, AsJson, Between0And1, Quiet, Seeded, Texts, command
from factloop.cli.outputs import FILLED_IN, STANDARD_OUTPUT, deliver, refuse_existing, show_lines, try_outputs
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.json import to_json
from factloop.core.files.rows import read_record
from factloop.core.records import Verdict
from factloop.reports.downloads import csv_text
from factloop.reports.figures import percent, plural
from factloop.reports.labels import REPORTS_DATASET, PersonLabel
from factloop.reports.visible import visible
from factloop.setup.marks import Mark
from factloop.setup.settings import AtLeastOne

if TYPE_CHECKING:
    from factloop.evaluation.labels.draws import DrawnPart
    from factloop.evaluation.labels.exporting import ExportedLabels
    from factloop.evaluation.labels.people import PeopleAgreement
    from factloop.evaluation.labels.sheets import NextLabels

NOT_WRITTEN = "Nothing was written; run the command again."


class Draw(Quiet, Seeded):
    run: Annotated[str, Mark(ARGUMENT, "RUN")]
    """Run directory of factloop eval. With labels next, it may also belong to an experiment. Claims on which the
    experiment's variants disagree are then drawn first."""
    out: Annotated[str | None, Mark(metavar="FILE")] = None
    """Write the claims to this CSV file as a sheet to fill in."""
    html: Annotated[str | None, Mark(metavar="FILE")] = None
    """Write the claims to this file as an HTML page for labelling."""
    n: AtLeastOne = 100
    """Number of claims to draw."""


class Next(Draw):
    labels: Annotated[str | None, Mark(metavar="FILE")] = None
    """Labels that you already have, as written by labels export. Their claims are not drawn again. If there are at
    least 10 labels (50 if the run has scores), claims whose verdicts are more likely to be wrong are drawn more often.
    """


class Export(Quiet, AsJson):
    sheets: Annotated[Texts, Mark(ARGUMENT, "SHEET...")]
    """Completed sheets from labels next, and .json files saved from its pages."""
    out: Annotated[str, Mark(metavar="FILE")]
    """Write the labels to this file as JSON Lines."""
    report: Annotated[Texts, Mark(metavar="FILE")] = ()
    """Report from check --json, if the labels were made on its page. Adds the claims' passages to the labels."""
    system: Annotated[Texts, Mark(metavar="[FILE=]NAME")] = ()
    """System that wrote the answers in all files or in FILE, if the pages do not name it. Default: unnamed."""
    differing: Literal["left-out", "majority"] | None = None
    """If people labelled a claim differently, leave it out (left-out) or use the majority's label (majority). Each file
    must contain the labels of only one person."""


class Disagree(Draw):
    key: Annotated[str, Mark(metavar="FILE")]
    """Write the key, which says which answer is the judge's, to this JSON file. Do not show it to the adjudicator."""


class Adjudicate(Quiet, AsJson):
    answers: Annotated[str, Mark(ARGUMENT, "SHEET")]
    """Completed sheet (with the answers first, second or neither), or the file saved from a page."""
    key: Annotated[str, Mark(metavar="FILE")]
    """Key that labels disagree wrote along with the sheet or page."""
    level: Between0And1 = 0.95
    """Confidence level of the intervals, between 0 and 1."""


@command()
def next_(given: Next) -> int:
    require("evaluation", "factloop research labels next")
    from factloop.evaluation.experiments.finished import is_experiment, read_results, to_label
    from factloop.evaluation.labels.sheets import SHEET, candidates_of, draw_claims, read_known
    from factloop.evaluation.labels.views import render_labels_html
    from factloop.evaluation.runs.reading import read_run

    _want_one(given.out, given.html, "label")
    try_outputs((given.out, given.html), (given.run, given.labels))
    refuse_existing((given.out,), FILLED_IN)
    known = None if given.labels is None else read_known(given.labels)
    with stopped_with(NOT_WRITTEN):
        if is_experiment(given.run):
            results = read_results(given.run)
            data, candidates = results.data, to_label(results)
        else:
            run = read_run(given.run)
            data, candidates = run.summary.data, candidates_of(run)
        found = draw_claims(candidates, given.n, data=data, seed=given.seed, known=known)
        sheet = partial(csv_text, SHEET, [one.row for one in found.drawn])
        page = partial(render_labels_html, found.drawn, data=data)
    deliver(given, None, show_lines(_next_words(given, found)), page=page, files={given.out: sheet})
    return DONE


def _next_words(given: Next, found: NextLabels) -> Iterator[str]:
    others = f" and no label ({found.n_before:,} others are labelled; " if found.n_before else " ("
    n_open = f"{plural(found.n_claims - found.n_before, 'claim')} with a verdict"
    drawn = f"{len(found.drawn):,} of {n_open}{others}{_learnt_words(found)})"
    to_do = [f"fill in `label` (1 for supported, 0 for not) in {given.out}"] if given.out is not None else []
    to_do += [f"label them on the page {given.html}"] if given.html is not None else []
    yield f"{drawn}: {', or '.join(to_do)}"
    if found.n_unscored:
        left = f"{plural(found.n_unscored, 'claim')} without a verdict cannot be drawn"
        yield f"{left}; to label all claims of an answer, use the page that `factloop check --html` writes"


def _learnt_words(found: NextLabels) -> str:
    pilot = found.pilot
    if found.n_first:
        return f"{found.n_first_drawn:,} of {found.n_first:,} that flipped"
    if pilot is None:
        return "no labels to learn from"
    if not found.has_learnt:
        return f"too few usable labels to learn from: {pilot.n:,} of at least {found.n_to_learn}"
    (wrong, called), (missed, rejected) = pilot.wrong(1), pilot.wrong(0)
    return (
        f"learnt from {plural(pilot.n, 'label')}: {wrong:,} of {called:,} claims judged supported were not supported, "
        f"and {missed:,} of {rejected:,} claims judged not supported were supported"
    )


@command()
def export(given: Export) -> int:
    require("evaluation", "factloop research labels export")
    from factloop.evaluation.labels.exporting import export_labels, reports_by_claims
    from factloop.evaluation.labels.people import DisagreementPolicy

    system, systems = _systems(given)
    if given.json_ is not None and given.differing is None:
        raise ConfigError("--json reports the agreement between people: also set --differing")
    try_outputs((given.out, given.json_), (*given.sheets, *given.report))
    found = export_labels(
        given.sheets,
        system=system,
        systems=systems,
        reports=reports_by_claims(given.report),
        differing=None if given.differing is None else DisagreementPolicy(given.differing),
    )
    for part in found.unfinished:
        note(_unfinished_words(part))
    if len(found.runs) > 1:
        note(_runs_words(found))
    people = _people_words(found.people) if found.people else ()
    lines = ["; ".join(_export_words(given, found)), *_answer_words(found), *people]
    rows = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in found.rows)
    deliver(given, found.people, show_lines(lines), files={given.out: lambda: rows})
    return DONE


def _systems(given: Export) -> tuple[str, dict[str, str]]:
    from factloop.evaluation.labels.exporting import UNNAMED

    of_file, of_rest = dict[str, str](), list[str]()
    for named in given.system:
        place = next((place for place in given.sheets if named.startswith(f"{place}=")), None)
        name = named if place is None else named.removeprefix(f"{place}=")
        if not name.strip():
            raise ConfigError("--system must be NAME or FILE=NAME, with a name that is not blank")
        if place is None:
            of_rest.append(name)
        elif of_file.setdefault(place, name) != name:
            raise ConfigError(f"--system sets two names for {place}: use only one")
    if len(of_rest) > 1:
        names = ", ".join(of_rest)
        raise ConfigError(f"--system sets several systems ({names}): use FILE=NAME to assign each file to its system")
    return (of_rest or [UNNAMED])[0], of_file


def _export_words(given: Export, found: ExportedLabels) -> Iterator[str]:
    how = f" ({found.n_blind:,} blind, {found.n_seen:,} with the verdict visible)" if found.n_blind else ""
    yield f"{plural(len(found.rows), 'label')} in {given.out}{how}"
    if found.n_empty:
        yield f"left out {plural(found.n_empty, 'claim')} without a label"
    for label, n in sorted(found.left_out.items()):
        yield f"left out {plural(n, 'claim')} labelled {label.value.replace('_', ' ')}"


def _answer_words(found: ExportedLabels) -> Iterator[str]:
    """Yields what labels from report pages say about answers and their judge. Yields nothing for labels of a run."""
    if {row["dataset"] for row in found.rows} != {REPORTS_DATASET}:
        return
    n_right = sum(row["label"] for row in found.rows)
    n_wrong = len(found.rows) - n_right
    one = "this answer’s" if len({row["response_id"] for row in found.rows}) == 1 else "these answers’"
    is_sure = found.people is None and not found.left_out[PersonLabel.CANNOT_TELL]
    why = ". It needs no interval and no correction, because you read every claim" if is_sure else ""
    rest = f"label the other {plural(found.n_empty, 'claim')} to get {one} precision"
    said = rest if found.n_empty else f"that is {one} precision{why}"
    yield f"{n_right:,} of your {plural(len(found.rows), 'label')} say supported: {said}"
    agreed, passed, missed = (found.judged[of] for of in ((Verdict.SUPPORTED, 1), (Verdict.SUPPORTED, 0), (None, 0)))
    called = f"your labels agree with {agreed:,} of the judge’s {agreed + passed:,} “supported” verdicts"
    yield called if agreed + passed else f"the judge called none of these {plural(len(found.rows), 'claim')} supported"
    how = f"flagged {n_wrong - passed - missed:,}, called {passed:,} supported and left {missed:,} unscored"
    some = f"of the claims that you labelled not supported ({n_wrong:,}), the judge {how}"
    yield some if n_wrong else "you labelled no claim not supported, so this does not show if the judge finds errors"
    yield "to correct scores of answers in general, run `factloop eval` and label claims of that run"


def _unfinished_words(part: DrawnPart) -> str:
    of = "" if part.draw is None else f" of {part.name}"
    return (
        f"{part.n_open:,} of {plural(part.n_drawn, 'claim')}{of} have no label. If you labelled claims from the top "
        "down, they are a smaller random sample, since the order is random. Otherwise, label the remaining claims."
    )


def _runs_words(found: ExportedLabels) -> str:
    each = "; ".join(f"{n:,} of {data}, judged by {judge}" for (data, judge), n in found.runs.items())
    return (
        f"these labels come from {len(found.runs):,} runs ({each}). A calibration needs labels from one checker on one "
        "kind of claim: if these differ, export the runs separately."
    )


def _people_words(found: PeopleAgreement) -> Iterator[str]:
    for one in found.pairs:
        share = "" if one.alike.value is None else f"{percent(one.alike.value)} of "
        kappa, n = one.kappa, plural(one.alike.n, "claim")
        shown = f"undefined ({kappa.why})" if kappa.value is None else f"{kappa.value:.2f}"
        if kappa.low is not None and kappa.high is not None:
            shown += f" [{kappa.low:.2f}, {kappa.high:.2f}]"
        yield visible(f"{one.first} and {one.second}: {share}{n} labelled alike, Cohen’s kappa {shown}")
    yield (
        f"{plural(found.n_shared, 'claim')} labelled by two or more people, {found.n_differing:,} with different "
        f"labels ({found.n_left_out:,} left out)"
    )


@command()
def disagree(given: Disagree) -> int:
    require("evaluation", "factloop research labels disagree")
    from factloop.evaluation.labels.disagreements import SHEET, draw_disagreements
    from factloop.evaluation.labels.views import render_disagreements_html
    from factloop.evaluation.runs.reading import read_run

    if STANDARD_OUTPUT in (given.out, given.html, given.key):
        raise ConfigError("--out, --html and --key must be files, because the adjudicator must not see the key")
    _want_one(given.out, given.html, "answer")
    try_outputs((given.out, given.html, given.key), (given.run,))
    refuse_existing((given.out,), FILLED_IN)
    refuse_existing((given.key,), "a completed sheet may still need it")
    with stopped_with(NOT_WRITTEN):
        run = read_run(given.run)
        found = draw_disagreements(
            run, given.n, seed=given.seed, data=run.summary.data, cost_usd=run.summary.usage.cost_usd
        )
        drawn, key = found.drawn, found.key
    n = f"{len(drawn):,} of {plural(key.n_differing, 'disagreement')} among {key.n_labelled:,} labelled claims"
    to_do = [f"fill in `answer` (first, second, neither) in {given.out}"] if given.out is not None else []
    to_do += [f"answer on the page {given.html}"] if given.html is not None else []
    deliver(
        given,
        None,
        show_lines([f"{n}: {', or '.join(to_do)}"]),
        page=partial(render_disagreements_html, drawn, data=key.data),
        files={given.out: partial(csv_text, SHEET, [one.row for one in drawn]), given.key: partial(to_json, key)},
    )
    return DONE


def _want_one(out: str | None, html: str | None, to_do: str) -> None:
    if out is None and html is None:
        raise ConfigError(f"set an output: --out for a sheet, or --html for a page on which to {to_do}")


@command()
def adjudicate(given: Adjudicate) -> int:
    require("evaluation", "factloop research labels adjudicate")
    from factloop.evaluation.labels.adjudication import adjudicate as count
    from factloop.evaluation.labels.adjudication import read_answers
    from factloop.evaluation.labels.disagreements import DisagreementKey
    from factloop.evaluation.labels.views import print_adjudication

    try_outputs((given.json_,), (given.answers, given.key))
    key = read_record(given.key, DisagreementKey, "a key written by `labels disagree --key`")
    found = count(read_answers(given.answers, key), key, level=given.level)
    deliver(given, found, partial(print_adjudication, found))
    return DONE
