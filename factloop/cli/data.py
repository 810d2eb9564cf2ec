"""`factloop data list | get`: lists data sets, and downloads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from rich.console import Console
from rich.table import Table
from rich.text import Text

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.files.json import to_json
from factloop.core.records import Record
from factloop.evaluation.datasets.download import Download
from factloop.evaluation.datasets.fetch import FetchedFile, How, fetch
from factloop.evaluation.datasets.folder import data_folder, is_got
from factloop.evaluation.datasets.registry import Dataset, find_dataset, list_datasets
from factloop.reports.figures import plural
from factloop.reports.visible import visible

FAILED = 2
_STOPPED = "Run the same command again to go on."


class ListedPart(Record):
    name: str
    path: Path | None
    """The data set's folder, if it is there."""


class ListedDataset(Record):
    name: str
    title: str
    about: str
    homepage: str
    licence: str
    citation: str
    gated: bool
    """Upstream hands it out only to those who accept its terms there."""
    parts: tuple[ListedPart, ...]


class DataListing(Record):
    folder: Path
    """The folder in which data sets are looked for."""
    datasets: tuple[ListedDataset, ...]


class GotDataset(Record):
    name: str
    files: tuple[FetchedFile, ...]
    """None after a failure; what was downloaded until then stays, and is not downloaded again."""
    error: str | None


class DataGot(Record):
    """The outcome of `data get`."""

    folder: Path
    datasets: tuple[GotDataset, ...]


@dataclass(frozen=True)
class GetAsk:
    """Arguments of the command."""

    names: tuple[str, ...]
    parts: tuple[str, ...]
    into: Path | None
    from_dir: Path | None
    json: str | None
    quiet: bool


def run_list(into: Path | None, json: str | None) -> int:
    """Lists the data sets; returns the exit code. Touches no network. Raises ConfigError."""
    try_outputs((json,), ())
    folder = into or data_folder()
    listing = DataListing(folder=folder, datasets=tuple(_listed(folder, one) for one in list_datasets()))
    if json is not None:
        write_output(json, to_json(listing))
    if json != STANDARD_OUTPUT:
        say(lambda: _print_listing(listing, Terminal()))
    return DONE


def run_get(ask: GetAsk, *, find: Callable[[str], Dataset] = find_dataset, download: Download | None = None) -> int:
    """Gets each data set, even where others fail; returns the exit code.

    Raises ConfigError, before anything is downloaded, for an unknown name or part.
    """
    messages = messages_console()
    folder = ask.into or data_folder()
    datasets = [find(name) for name in dict.fromkeys(ask.names)]
    if ask.parts and len(datasets) > 1:
        raise ConfigError("--part goes with one data set; get the others by a command of their own")
    for part in ask.parts:
        datasets[0].part(part)
    try_outputs((ask.json,), ())
    got = []
    with stopped_with(_STOPPED, messages):
        for dataset in datasets:
            one = _get(dataset, ask, folder, download, messages)
            got.append(one)
            if one.error is not None:
                messages.print(visible(f"factloop: {one.name}: {' '.join(one.error.split())}"), soft_wrap=True)
            elif not ask.quiet and ask.json != STANDARD_OUTPUT:
                say(partial(Terminal().print, visible(_said(dataset, folder, one.files)), soft_wrap=True))
    if ask.json is not None:
        write_output(ask.json, to_json(DataGot(folder=folder, datasets=tuple(got))))
    return FAILED if any(one.error is not None for one in got) else DONE


def _get(dataset: Dataset, ask: GetAsk, folder: Path, download: Download | None, messages: Console) -> GotDataset:
    n_files = sum(len(part.files) for part in dataset.parts if not ask.parts or part.name in ask.parts)
    of = f" of {n_files}" if ask.from_dir is None else ""
    n_done = 0
    with messages.status(visible(f"{dataset.name}: 0{of}")) as status:

        def tell(file: FetchedFile) -> None:
            nonlocal n_done
            n_done += 1
            status.update(visible(f"{dataset.name}: {n_done}{of}, {file.path.name}"))

        if ask.quiet:
            status.stop()
        try:
            with _alone(folder / dataset.name):
                files = fetch(dataset, folder, ask.from_dir, parts=ask.parts, download=download, on_file=tell)
        except FactloopError as error:
            return GotDataset(name=dataset.name, files=(), error=str(error))
    return GotDataset(name=dataset.name, files=files, error=None)


def _alone(folder: Path) -> FileLock:
    """Holds a lock on the folder: two downloads of one file at a time would both write to its unfinished part."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock", timeout=0)
        lock.acquire()
    except Timeout as error:
        raise ConfigError(f"{folder}: another process is getting this data set") from error
    except OSError as error:
        raise ConfigError(f"cannot write {folder}: {error.strerror or error}") from error
    return lock


def _said(dataset: Dataset, folder: Path, files: Sequence[FetchedFile]) -> str:
    counts = [(sum(file.how is how for file in files), str(how)) for how in How]
    done = ", ".join(f"{count} {how}" for count, how in counts if count)
    unknown = sum(not file.verified for file in files)
    checked = "checksums verified" if not unknown else f"no checksum known for {unknown}, so nothing to compare"
    where = folder / dataset.name
    return f"{dataset.name}: {plural(len(files), 'file')} ({done}; {checked}) in {where}. Licence: {dataset.licence}"


def _listed(folder: Path, dataset: Dataset) -> ListedDataset:
    parts = tuple(
        ListedPart(
            name=part.name,
            path=folder / dataset.name / part.name if is_got(folder, dataset.name, part.name) else None,
        )
        for part in dataset.parts
    )
    return ListedDataset(
        name=dataset.name,
        title=dataset.title,
        about=dataset.about,
        homepage=dataset.homepage,
        licence=dataset.licence,
        citation=dataset.citation,
        gated=dataset.gated,
        parts=parts,
    )


def _print_listing(listing: DataListing, console: Console) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in listing.datasets:
        parts = ", ".join(f"{part.name} (here)" if part.path else part.name for part in one.parts)
        gated = "; handed out on request only" if one.gated else ""
        lines = (f"{one.title}: {one.about}", f"parts: {parts}", f"licence: {one.licence}{gated}")
        table.add_row(one.name, Text("\n".join(lines)))
    console.print(table)
    lasts = (
        f"Here is {listing.folder}.",
        "Homepages and citations: factloop data list --json -",
        "To get one: factloop data get NAME",
    )
    console.print(visible("\n" + "\n".join(lasts)), soft_wrap=True)
