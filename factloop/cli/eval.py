"""`factloop eval FILE` and `factloop eval factscore` check a data set with SAFE and score each system."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from factloop.cli.check import deliver_estimate
from factloop.cli.console import note, run_until_stopped, watched
from factloop.cli.demands import ALL_IRRELEVANT, code_of, first_failure, results_of
from factloop.cli.inputs import pairs_given, refuse_missing_data, refuse_self_support, wanted_k
from factloop.cli.options import ARGUMENT, OUTPUT, STATISTICS, Flags, Intervals, Judged, Tabled, Texts, command, taking
from factloop.cli.outputs import deliver, try_outputs, write_output
from factloop.cli.preparing import note_unsent_prompts_of_check, with_leave_to_fetch
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.factuality import counted_claims
from factloop.core.files.lines import name_of_data
from factloop.core.reasons import UnscoredReason
from factloop.entrance.settings_sources import load_settings
from factloop.reports.claims import tally_reasons
from factloop.reports.figures import plural, reason_counts
from factloop.reports.terminal_parts import one_line
from factloop.setup.marks import BATCH, CACHE, LIMITS, MODEL, PER_CHECK, SEARCH, Mark
from factloop.setup.settings import AtLeastOne, CheckSettings

if TYPE_CHECKING:
    from factloop.evaluation.runs.items import RunItem
    from factloop.evaluation.runs.records import JudgedResponse, RunSummary
    from factloop.evaluation.runs.run import Debias, Kind, ReportEngine
    from factloop.evaluation.runs.run_claims import RunClaims
    from factloop.evaluation.runs.summary import WantedK

DEFAULT_KS: tuple[WantedK, ...] = ("median",)
WORKERS = 2
NO_CLAIMS_MADE = "the responses make no claims that can be checked"
DATASET, PART = "factscore", "bio"


class Run(Judged, Tabled, Intervals):
    k: Annotated[Texts, Mark(STATISTICS, "K")] = ()
    """K for F1@K: a number, or the median or maximum number of supported claims per response. Default: median."""
    abstention: Annotated[Literal["zero", "exclude"], Mark(STATISTICS)] = "zero"
    """Count a response without claims as an F1@K of 0 (zero), or leave it out of all means (exclude)."""
    calibration: Annotated[str | None, Mark(STATISTICS, "PATH")] = None
    """Human-labelled claims for correcting the figures. Pass a file, or a run directory of eval factscore."""
    evaluator: Annotated[str | None, Mark(STATISTICS, "NAME")] = None
    """Use the verdicts of this evaluator, if --calibration is a file of predictions for research audit."""
    transfer: Annotated[Literal["verdicts", "error_rates"] | None, Mark(STATISTICS)] = None
    """Assume that verdicts are right as often as on the labelled claims (verdicts), or that TPR and FPR are the same as
    on the labelled claims (error_rates). Default: verdicts if any label is from the system or run, else error_rates."""
    workers: Annotated[AtLeastOne | None, Mark(LIMITS)] = None
    """Number of Ray workers. If set, responses are judged on these workers instead of in this process."""
    address: Annotated[str | None, Mark(LIMITS, "HOST:PORT")] = None
    """Address of a Ray cluster. By default, --workers starts a cluster on this machine."""
    limit: Annotated[AtLeastOne | None, Mark(LIMITS)] = None
    """Use only the first N responses."""


class Responses(Run):
    data: Annotated[str, Mark(ARGUMENT, "FILE")]
    """File with a prompt, a response and optionally documents in each row (JSON Lines, CSV, Parquet or a JSON array; -
    for standard input). If you pass a run directory, its responses are judged again, using the saved evidence unless
    you set --docs or --search."""
    column: Annotated[Texts, Mark(metavar="FIELD=COLUMN")] = ()
    """Read a field from this column, for example prompt=question."""


class FactScore(Run):
    data: Annotated[str | None, Mark(metavar="PATH")] = None
    """File or folder with FActScore's labels. Default: the labels downloaded by factloop research data get."""
    system: Annotated[Texts, Mark(metavar="NAME")] = ()
    """Use only the responses of this system."""
    abstention: Annotated[Literal["zero", "exclude"], Mark(STATISTICS)] = "exclude"
    """Count a response without claims as an F1@K of 0 (zero), or leave it out of all means (exclude)."""
    out: Annotated[str | None, Mark(OUTPUT, "FILE")] = None
    """Write each verdict with its label to this file, as input for factloop research audit. Requires --run-dir."""


_SETTINGS = taking(CheckSettings, MODEL, SEARCH, LIMITS, BATCH, CACHE, PER_CHECK, "repeats", "seed")


@command(_SETTINGS)
def responses(given: Responses, flags: Flags) -> int:
    require("evaluation", "factloop eval")
    refuse_missing_data(given.data, flags.get("docs"))
    from factloop.evaluation.datasets.mapping import ColumnMapping
    from factloop.evaluation.datasets.responses import load_responses
    from factloop.evaluation.runs.items import response_items

    settings = load_settings(CheckSettings, flags)
    if (Path(given.data) / "run.json").is_file():
        return _judge_again(given, settings)
    mapping = ColumnMapping(columns=wanted_columns(given.column))
    items = response_items(load_responses(given.data, mapping, note))
    return _judge(given, settings, items, place=given.data, data=name_of_data(given.data), kind="responses")


def _judge_again(given: Responses, settings: CheckSettings) -> int:
    from factloop.evaluation.runs.items import replayed_items
    from factloop.evaluation.runs.reading import read_run

    if given.column:
        raise ConfigError("--column needs a file of rows, not a run directory: omit --column")
    run, by_evidence = read_run(given.data), not (settings.search or settings.docs)
    if run.summary.kind == "factscore":
        said = "to keep its facts and labels, run `factloop eval factscore` again with another --run-dir"
        raise ConfigError(f"{given.data} is a run of `factloop eval factscore`: {said}")
    settings = settings.model_copy(update={"plan": settings.plan or run.summary.fingerprint.plan})
    items = replayed_items(run, by_evidence=by_evidence)
    data = f"answers {'and evidence ' if by_evidence else ''}from {given.data}, a run on {run.summary.data}"
    return _judge(given, settings, items, place=given.data, data=data, kind="responses")


@command(_SETTINGS)
def factscore(given: FactScore, flags: Flags) -> int:
    require("evaluation", "factloop eval factscore")
    refuse_missing_data(given.data, flags.get("docs"))
    from factloop.evaluation.datasets.folder import find_part, named_part

    if given.out is not None and given.run_dir is None:
        raise ConfigError("--out copies the verdicts from the run directory: also set --run-dir")
    settings = load_settings(CheckSettings, flags)
    place = str(find_part(DATASET, PART, given.data))
    named = named_part(DATASET, PART) if given.data is None else name_of_data(given.data)
    items = factscore_items(place, given.system)
    return _judge(given, settings, items, place=place, data=named, kind="factscore", out=given.out)


def factscore_items(place: str | Path, systems: Sequence[str] = ()) -> Iterator[RunItem]:
    """Yields the responses with their facts and labels, including abstentions (responses without facts).

    Raises DataError at the first malformed row, and ConfigError at the end if a system has no responses.
    """
    from factloop.evaluation.datasets.factscore import load_factscore
    from factloop.evaluation.runs.items import labelled_item

    absent = set(systems)
    for response in load_factscore(place):
        absent.discard(response.system)
        if not systems or response.system in systems:
            yield labelled_item(response)
    if absent:
        raise ConfigError(f"{place} contains no responses by {', '.join(sorted(absent))}; check the names in --system")


def wanted_columns(given: Sequence[str]) -> dict[str, str]:
    """Maps fields to columns. Raises ConfigError unless all are FIELD=COLUMN pairs with distinct, known fields."""
    from factloop.evaluation.datasets.responses import FIELDS

    columns = pairs_given("--column", given, "FIELD=COLUMN, such as prompt=question")
    for name in columns:
        if name not in FIELDS:
            raise ConfigError(f"--column: unknown field {name[:40]!r}; the fields are {', '.join(FIELDS)}")
    return columns


def _judge(
    given: Run,
    settings: CheckSettings,
    items: Iterable[RunItem],
    *,
    place: str,
    data: str,
    kind: Kind,
    out: str | None = None,
) -> int:
    from factloop.checking.checker import FactChecker
    from factloop.evaluation.runs.longform import AbstentionPolicy
    from factloop.evaluation.runs.reading import predictions_of, read_run
    from factloop.evaluation.runs.run import astream_run
    from factloop.evaluation.runs.summary import Scoring
    from factloop.evaluation.runs.views.shown import print_run, render_run_html

    settings = settings if given.dry_run else with_leave_to_fetch(settings)
    scoring = Scoring(
        ks=tuple(map(wanted_k, given.k)) or settings.k or DEFAULT_KS,
        abstention=AbstentionPolicy(given.abstention),
        level=given.level,
        resamples=given.resamples,
        seed=settings.seed,
    )
    engine, debias = _engine(given, settings), _debiasing(given)
    try_outputs((*given.written, out), (place, given.calibration), settings=settings, run_dir=given.run_dir)
    refuse_self_support(place, settings.docs, "--docs")
    note_unsent_prompts_of_check(settings)
    if given.dry_run:
        return _print_estimate(given, settings, items)
    failures: list[str | None] = []
    reasons: Counter[UnscoredReason] = Counter()

    def look_at(judged: JudgedResponse) -> None:
        if not any(failures):
            failures.append(first_failure(results_of(judged.report)))
        reasons.update(tally_reasons(counted_claims(judged.report)))

    async def run() -> RunSummary:
        async with FactChecker(settings=settings) as checker:
            events = astream_run(
                checker,
                items,
                data=data,
                kind=kind,
                scoring=scoring,
                run_dir=given.run_dir,
                limit=given.limit,
                engine=engine,
                debias=debias,
            )
            return await watched(events, "response", quiet=given.quiet, look_at=look_at)

    kept = settings.model is not None and settings.cache
    summary = run_until_stopped(run(), run_dir=given.run_dir, kept=kept)
    if out is not None:
        assert given.run_dir is not None  # the command requires it
        write_output(out, predictions_of(read_run(given.run_dir), dataset=DATASET))
    deliver(given, summary, partial(print_run, summary), page=partial(render_run_html, summary))
    why_unscored = next(filter(None, failures), None) or ", ".join(reason_counts(reasons))
    return _exit_code(given, summary, why_unscored)


def _engine(given: Run, settings: CheckSettings) -> ReportEngine | None:
    if given.workers is None and given.address is None:
        return None
    from factloop.evaluation.runs.run import judge_on_ray

    def engine(items: Iterable[RunItem], folder: Path | None) -> AsyncGenerator[JudgedResponse, None]:
        workers = given.workers or WORKERS
        return judge_on_ray(settings, items, directory=folder, workers=workers, address=given.address)

    return engine


def _debiasing(given: Run) -> Debias | None:
    """Reads the labelled claims now, so that errors in them are found before any money is spent."""
    if given.calibration is None:
        if given.evaluator is not None:
            raise ConfigError("--evaluator selects an evaluator in --calibration: also set --calibration")
        return None
    from factloop.evaluation.debiasing.records import Transfer
    from factloop.evaluation.runs.calibration import calibrated, load_calibration

    sample = load_calibration(given.calibration, evaluator=given.evaluator)
    transfer = None if given.transfer is None else Transfer(given.transfer)

    def debias(summary: RunSummary, run: RunClaims) -> RunSummary:
        return calibrated(summary, sample, transfer=transfer, run=run)

    return debias


def _print_estimate(given: Run, settings: CheckSettings, items: Iterable[RunItem]) -> int:
    from factloop.checking.estimate import estimate, length_of_documents, sum_of
    from factloop.checking.preparing import plan_of
    from factloop.tools.search.build import check_sources

    check_sources(settings.search, settings.docs)
    of_all = length_of_documents(settings)
    with_documents = settings.model_copy(update={"search": ()})  # searching an item's own documents costs nothing
    estimates, plans = [], set()
    for item in islice(items, given.limit):
        by = settings if item.documents is None else with_documents
        n_characters = of_all if item.documents is None else sum(len(one.text) for one in item.documents)
        estimates.append(estimate(by, item.response, item.prompt, item.facts, n_characters))
        plans.add(plan_of(by))
    total = sum_of(estimates)
    shown_plans = " and ".join(map(repr, sorted(plans or {plan_of(settings)})))
    return deliver_estimate(given, total, f"{plural(len(estimates), 'response')}, plan {shown_plans}", settings)


def _exit_code(given: Run, summary: RunSummary, why_unscored: str) -> int:
    systems = summary.scores.systems
    counts = [system.counts for system in systems]
    return code_of(
        sum(one.scored for one in counts),
        sum(one.unscored for one in counts),
        {f" for {one_line(by.system)} ({plural(by.precision.n, 'response')})": by.precision.value for by in systems},
        given,
        why=why_unscored,
        nothing=ALL_IRRELEVANT if any(one.total for one in counts) else NO_CLAIMS_MADE,
    )
