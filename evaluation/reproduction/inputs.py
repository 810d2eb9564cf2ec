"""What a reproduction reads: labelled data where they are found, and the output of other commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from factloop.core.errors import ConfigError, DataError
from factloop.core.records import Record
from factloop.evaluation.datasets.folder import data_folder, is_got
from factloop.evaluation.datasets.registry import find_dataset

T = TypeVar("T", bound=Record)


@dataclass(frozen=True)
class Inputs:
    """Places and names that a reproduction is given."""

    places: Mapping[str, Path] = field(default_factory=dict)
    """`NAME:PART` of a data set to its file or folder; those that were not found are absent."""
    all_results: tuple[Path, ...] = ()
    """The outputs of the entry's command, one a run."""
    evaluators: Mapping[str, str] = field(default_factory=dict)
    """The paper's name of an evaluator to the name that the results have."""

    @property
    def results(self) -> Path | None:
        """The output of the entry's command, for entries that read one. Raises ConfigError where several are given."""
        if len(self.all_results) > 1:
            raise ConfigError("this entry reads the results of one run: give --results once")
        return self.all_results[0] if self.all_results else None

    def missing(self, data: Sequence[str]) -> Iterator[str]:
        """A sentence for each data set that was not found."""
        for named in data:
            if named not in self.places:
                name = named.partition(":")[0]
                where = "--from-dir FOLDER" if find_dataset(name).gated else "or name its folder with --data"
                yield f"{named} was not found: factloop data get {name}, {where}"


def read_result(path: Path, kind: type[T]) -> T:
    """The record that a command wrote with --json. Raises DataError for a file that holds no such record."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=str(path)) from error
    except ValidationError as error:
        raise DataError(f"is no {kind.__name__}; give the output of the entry's command", path=str(path)) from error


def find_places(data: Sequence[str], given: str | None) -> dict[str, Path]:
    """The places of the data sets that are there.

    `given` is a folder as `data get` fills it or with one file a part; or the one file itself, where one is wanted.
    Without it they are looked for where `data get` puts them. Raises ConfigError for a place that is not there, and for
    one file where several data sets are wanted.
    """
    if given is None:
        folder = data_folder()
        return {named: folder.joinpath(*named.split(":")) for named in data if is_got(folder, *named.split(":"))}
    place = Path(given)
    if place.is_file():
        if len(data) != 1:
            raise ConfigError(
                f"{given}: a folder is needed here, with {', '.join(data) or 'nothing: it takes no data'}"
            )
        return {data[0]: place}
    if not place.is_dir():
        raise ConfigError(f"{given}: no such file or folder")
    found = {named: _in_folder(place, named) for named in data}
    return {named: path for named, path in found.items() if path is not None}


def _in_folder(folder: Path, named: str) -> Path | None:
    name, part = named.split(":")
    if is_got(folder, name, part):
        return folder / name / part
    own = find_dataset(name).part(part).own_file
    return folder / own if own is not None and (folder / own).is_file() else None
