"""`factloop research data` lists data sets (`list`), downloads them (`get`), and joins claims to responses (`join`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from filelock import FileLock, Timeout
from rich.console import Console
from rich.table import Table
from rich.text import Text

from factloop.cli.console import BROKEN, DONE, note, step, stopped_with
from factloop.cli.options import ARGUMENT, AsJson, Quiet, Texts, command
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, deliver, say, show_lines, try_outputs, write_output
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.files.json import to_json, to_json_line
from factloop.core.records import Record
from factloop.evaluation.datasets.fetch import Download, FetchedFile, How, fetch
from factloop.evaluation.datasets.folder import data_folder, is_got
from factloop.evaluation.datasets.joining import Join, JoinCounts, JoinReport
from factloop.evaluation.datasets.labelled_pairs import load_llm_aggrefact
from factloop.evaluation.datasets.registry import AboutDataset, Dataset, find_dataset, list_datasets
from factloop.evaluation.datasets.upstream import UpstreamResponse, load_upstream
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Column, ColumnOf, Sheet, name, sheet_of
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.visible import visible
from factloop.setup.marks import Mark


class ListedPart(Record):
    name: str
    path: Path | None
    """None if the part has not been downloaded."""


class ListedDataset(AboutDataset):
    parts: tuple[ListedPart, ...]


class DataListing(Record):
    folder: Path
    """The folder of all downloaded data sets."""
    datasets: tuple[ListedDataset, ...]


class GotDataset(Record):
    name: str
    files: tuple[FetchedFile, ...]
    """Empty after a failure. Files that had been downloaded by then are kept and not downloaded again."""
    error: str | None


class DataGot(Record):
    folder: Path
    datasets: tuple[GotDataset, ...]


class Get(Quiet, AsJson):
    names: Annotated[Texts, Mark(ARGUMENT, "NAME...")]
    """Names of data sets, as shown by factloop research data list."""
    part: Annotated[Texts, Mark(metavar="PART")] = ()
    """Download only this part of the data set."""
    from_: Annotated[Path | None, Mark(metavar="FOLDER")] = None
    """Copy files from this folder instead of downloading them."""


class JoinClaims(Quiet, AsJson):
    claims: Annotated[str, Mark(ARGUMENT, "CLAIMS")]
    """File or folder with LLM-AggreFact's claims."""
    source: Annotated[Texts, Mark(metavar="KIND=PATH")]
    """Responses that claims may come from. KIND is tofueval-mediasum, tofueval-meetingbank, expertqa, or responses for
    any other file."""
    out: Annotated[str, Mark(metavar="FILE")]
    """Write each claim with its system, response, prompt and task to this file, for use with research verify."""


@command()
def list_(given: AsJson) -> int:
    try_outputs((given.json_,), ())
    folder = data_folder()
    listing = DataListing(folder=folder, datasets=tuple(_listed(folder, one) for one in list_datasets()))
    deliver(given, listing, partial(_print_listing, listing))
    return DONE


@command()
def get(given: Get) -> int:
    return get_datasets(given)


def get_datasets(given: Get, *, find: Callable[[str], Dataset] = find_dataset, download: Download | None = None) -> int:
    """Downloads every data set, even if some fail. Raises ConfigError, before any download, for an unknown name."""
    folder = data_folder()
    datasets = [find(name) for name in dict.fromkeys(given.names)]
    if given.part and len(datasets) > 1:
        raise ConfigError("--part needs exactly one data set: run the command once for each data set")
    for part in given.part:
        datasets[0].part(part)
    try_outputs((given.json_,), ())
    got = []
    with stopped_with("Run the same command again to continue."):
        for dataset in datasets:
            one = _get(dataset, given, folder, download)
            got.append(one)
            if one.error is not None:
                note(f"{one.name}: {' '.join(one.error.split())}")
            elif not given.quiet and given.json_ != STANDARD_OUTPUT:
                say(partial(show_lines([_said(dataset, folder, one.files)]), Terminal()))
    if given.json_ is not None:
        write_output(given.json_, to_json(DataGot(folder=folder, datasets=tuple(got))))
    return BROKEN if any(one.error is not None for one in got) else DONE


def _get(dataset: Dataset, given: Get, folder: Path, download: Download | None) -> GotDataset:
    n_files = sum(len(part.files) for part in dataset.parts if not given.part or part.name in given.part)
    of = f" of {n_files}" if given.from_ is None else ""
    n_done = 0
    with step(f"{dataset.name}: 0{of}", quiet=given.quiet) as say_step:

        def tell(file: FetchedFile) -> None:
            nonlocal n_done
            n_done += 1
            say_step(f"{dataset.name}: {n_done}{of}, {file.path.name}")

        try:
            with _alone(folder / dataset.name):
                files = fetch(dataset, folder, given.from_, parts=given.part, download=download, on_file=tell)
        except FactloopError as error:
            return GotDataset(name=dataset.name, files=(), error=str(error))
    return GotDataset(name=dataset.name, files=files, error=None)


def _alone(folder: Path) -> FileLock:
    """Locks the folder, because concurrent downloads would write to the same temporary file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise ConfigError(f"{folder}: another process is downloading this data set; wait until it ends") from error
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror or error}") from error
    return lock


def _said(dataset: Dataset, folder: Path, files: Sequence[FetchedFile]) -> str:
    counts = [(sum(file.how is how for file in files), str(how)) for how in How]
    done = ", ".join(f"{count} {how}" for count, how in counts if count)
    unknown = sum(not file.verified for file in files)
    checked = "checksums verified" if not unknown else f"no checksum is known for {unknown}"
    where = folder / dataset.name
    return f"{dataset.name}: {plural(len(files), 'file')} ({done}; {checked}) in {where}. Licence: {dataset.licence}"


def _listed(folder: Path, dataset: Dataset) -> ListedDataset:
    parts = tuple(
        ListedPart(
            name=part.name, path=folder / dataset.name / part.name if is_got(folder, dataset.name, part.name) else None
        )
        for part in dataset.parts
    )
    return ListedDataset(**dataset.model_dump(include={*AboutDataset.model_fields}), parts=parts)


def _print_listing(listing: DataListing, console: Console) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in listing.datasets:
        parts = ", ".join(f"{part.name} (downloaded)" if part.path else part.name for part in one.parts)
        gated = "; available only on request" if one.gated else ""
        lines = (f"{one.title}: {one.about}", f"parts: {parts}", f"licence: {one.licence}{gated}")
        table.add_row(one.name, Text("\n".join(lines)))
    console.print(table)
    lasts = (
        f"Folder for downloads: {listing.folder}",
        "For homepages and citations, run: factloop research data list --json -",
        "To download a data set, run: factloop research data get NAME",
    )
    console.print(visible("\n" + "\n".join(lasts)), soft_wrap=True)


@command()
def join(given: JoinClaims) -> int:
    places = _places(given.source)
    try_outputs((given.out, given.json_), (given.claims, *(place for _, place in places)))
    with stopped_with("Running it again costs nothing."):
        responses: list[UpstreamResponse] = []
        for kind, place in places:
            responses += load_upstream(kind, place)
        joining = Join(responses)
        lines = "".join(map(to_json_line, joining.joined(load_llm_aggrefact(given.claims))))
    report = joining.report
    deliver(given, report, lambda terminal: print_sheet(terminal, join_sheet(report)), files={given.out: lambda: lines})
    return DONE


def join_sheet(report: JoinReport) -> Sheet:
    columns: tuple[ColumnOf[JoinCounts], ...] = (
        (name("Data set"), lambda one: one.dataset),
        (Column("Responses"), lambda one: one.n_responses),
        (Column("Matched", is_strong=True), lambda one: one.matched),
        (Column("In several"), lambda one: one.ambiguous),
        (Column("In none"), lambda one: one.unmatched),
        (Column("Into"), lambda one: ", ".join(f"{dataset} {n:,}" for dataset, n in one.into.items()) or "–"),
    )
    return sheet_of("Claims matched with their responses", columns, report.datasets)


def _places(given: Sequence[str]) -> list[tuple[str, str]]:
    places = []
    for one in given:
        kind, mark, place = one.partition("=")
        if not (kind and mark and place):
            raise ConfigError(f"--source {one}: must be KIND=PATH, such as expertqa=FILE")
        places.append((kind, place))
    return places
