"""`factloop research verify` scores pairs of claims and documents for an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from factloop.cli.console import DONE, UNSCORED, note, run_until_stopped, watched
from factloop.cli.inputs import pairs_given, refuse_missing_data
from factloop.cli.options import ARGUMENT, AsJson, FailIfUnscored, Flags, Quiet, Texts, command, taking
from factloop.cli.outputs import STANDARD_OUTPUT, deliver, try_outputs
from factloop.cli.preparing import note_unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.files.lines import STANDARD_INPUT
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.verification.records import VerifierSummary, VerifyRun, VerifySettings
from factloop.reports import figures
from factloop.reports.sheet.table import Cell, Column, ColumnOf, sheet_of, value_cell
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.visible import visible
from factloop.setup.marks import BATCH, LIMITS, MODEL, Group, Mark
from factloop.setup.settings import AtLeastOne

if TYPE_CHECKING:
    from factloop.evaluation.verification.pairs import PlacedRow

INPUT = Group("input", "Input")


class Verify(Quiet, AsJson, FailIfUnscored):
    pairs: Annotated[str | None, Mark(ARGUMENT, "[PAIRS]")] = None
    """File with a claim, a document and, for an audit, a label in each row (JSON Lines, CSV or Parquet; - for standard
    input)."""
    verifier: Annotated[Texts, Mark(metavar="NAME")]
    """Verifier: baseline, minicheck, minicheck-roberta, hhem, alignscore, factcg, lettucedetect, granite-guardian,
    nli:MODEL, llm:PROVIDER:NAME or bespoke:NAME. NAME:FOLDER uses your own weights. In factloop check, a high
    baseline score is not enough for a verdict: nothing in the documents may speak against the claim."""
    out: Annotated[str, Mark(metavar="FILE")]
    """Write the predictions to this file as JSON Lines. Running the same command again resumes the run."""
    dataset: Annotated[str | None, Mark(INPUT, "NAME:PART")] = None
    """A labelled data set, such as wice:dev."""
    data: Annotated[str | None, Mark(INPUT, "PATH")] = None
    """File or folder of the data set. Default: the folder downloaded by factloop research data get."""
    documents: Annotated[str | None, Mark(INPUT, "FILE")] = None
    """File with an id and a document in each row, for a data set without documents, such as tofueval."""
    column: Annotated[Texts, Mark(INPUT, "FIELD=COLUMN")] = ()
    """Read a field from this column, for example claim=sentence."""
    label: Annotated[Texts, Mark(INPUT, "TEXT=0|1")] = ()
    """Convert a label to 0 or 1, for example SUPPORTS=1."""
    limit: Annotated[AtLeastOne | None, Mark(INPUT)] = None
    """Use only the first N pairs."""
    chunk_words: Annotated[tuple[AtLeastOne, ...], Mark(metavar="N")] = ()
    """Also score documents in chunks of N words. The audit lists these scores as NAME@N."""
    allow_download: bool = False
    """Download weights that are not on this machine yet."""


@command(taking(VerifySettings, MODEL, LIMITS, BATCH))
def verify(given: Verify, flags: Flags) -> int:
    refuse_missing_data(given.pairs)
    from factloop.evaluation.verification.run import VerifyRequest, astream_verify
    from factloop.tools.judges.build import PROMPTED, parse_spec

    settings = load_settings(VerifySettings, flags)
    rows, place, dataset = _input(given)
    if given.out == STANDARD_OUTPUT:
        raise ConfigError("--out must be a file, so that you can resume a stopped run")
    wanted = VerifyRequest(
        verifiers=given.verifier,
        out=Path(given.out),
        data=place,
        default_dataset=dataset,
        chunk_words=given.chunk_words,
        limit=given.limit,
        allow_download=given.allow_download,
    )
    try_outputs((given.out, given.json_), (place, given.documents), settings=settings, run_dir=wanted.folder)
    prompted = [name for name in given.verifier if parse_spec(name).kind == PROMPTED]
    note_unsent_prompts(settings.prompts, prompted, remedy=f"--verifier {PROMPTED}:PROVIDER:NAME")
    work = watched(astream_verify(rows, wanted, settings), "pair", quiet=given.quiet)
    run = run_until_stopped(work, run_dir=wanted.out, kept=True)
    deliver(given, run, partial(print_verify_run, run, given.out))
    for warning in run.warnings if not given.quiet else ():
        note(warning)
    return UNSCORED if given.fail_if_unscored and any(one.unscored for one in run.evaluators) else DONE


def _input(given: Verify) -> tuple[Iterator[PlacedRow], str, str]:
    from factloop.evaluation.datasets.folder import find_part
    from factloop.evaluation.datasets.mapping import ColumnMapping
    from factloop.evaluation.verification.pairs import load_dataset_pairs, load_pairs

    if (given.pairs is None) == (given.dataset is None):
        raise ConfigError("pass a file of pairs, or a data set with --dataset NAME:PART")
    if given.dataset is not None:
        if given.column or given.label:
            raise ConfigError("--column and --label need a file of pairs: omit them, or omit --dataset")
        name, _, part = given.dataset.partition(":")
        place = find_part(name, part, given.data)
        return load_dataset_pairs(name, part, place, given.documents), str(place), name
    assert given.pairs is not None
    if given.data is not None or given.documents is not None:
        raise ConfigError("--data and --documents need --dataset: omit them, or set --dataset instead of a file")
    columns = pairs_given("--column", given.column, "FIELD=COLUMN, such as claim=sentence")
    mapping = ColumnMapping(columns=columns, labels=_labels(given.label))
    name = "pairs" if given.pairs == STANDARD_INPUT else Path(given.pairs).stem
    return load_pairs(given.pairs, mapping), given.pairs, name or "pairs"


def _labels(given: Sequence[str]) -> dict[str, int]:
    found = pairs_given("--label", given, "TEXT=0 or TEXT=1, such as SUPPORTS=1")
    wrong = next((name for name, value in found.items() if value not in ("0", "1")), None)
    if wrong is not None:
        raise ConfigError(f"--label {wrong}={found[wrong]}: the label must be 0 or 1")
    return {name: int(value) for name, value in found.items()}


def print_verify_run(run: VerifyRun, out: str, terminal: Console) -> None:
    columns: tuple[ColumnOf[VerifierSummary], ...] = (
        (Column("Verifier", is_name=True), lambda one: one.name),
        (Column("Scored"), lambda one: one.n_scored),
        (Column("Supported"), lambda one: value_cell(one.share_supported, "{:.1%}".format)),
        (Column("Unscored"), lambda one: Cell(f"{sum(one.unscored.values()):,}", note=_reasons(one))),
        *(_span_columns() if any(one.spans for one in run.evaluators) else ()),
    )
    print_sheet(terminal, sheet_of("Verifiers", columns, run.evaluators))
    labelled = "all labelled" if run.n_labelled == run.n_pairs else f"{run.n_labelled:,} with a label"
    terminal.print(f"{figures.plural(run.n_pairs, 'pair')} ({labelled}) in {visible(out)}", soft_wrap=True)
    if run.usage.calls or run.usage.failed_calls:
        tokens = f"{run.usage.prompt_tokens:,} + {run.usage.completion_tokens:,} tokens"
        failed = f", {run.usage.failed_calls:,} failed" if run.usage.failed_calls else ""
        terminal.print(f"{figures.plural(run.usage.calls, 'call')}{failed}, {tokens}, {figures.cost(run.usage)}")


def _span_columns() -> Iterator[ColumnOf[VerifierSummary]]:
    def figure(name: str) -> Callable[[VerifierSummary], Cell]:
        return lambda one: value_cell(getattr(one.spans, name, None), "{:.1%}".format)

    for name, head in (("precision", "Span precision"), ("recall", "Span recall"), ("f1", "Span F1")):
        yield Column(head), figure(name)


def _reasons(one: VerifierSummary) -> str:
    return ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in one.unscored.items())
