"""The data sets that factloop knows: where they are published, under which licence, and what reads them.

Ours stand in `registry.json`. Other distributions add theirs by entry points of `factloop.datasets`: each names a
`Dataset`.

A checksum is that of the file at the revision which its address names. It is None where upstream publishes none and the
file itself could not be had; then what was downloaded is recorded, and compared with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from factloop.core.errors import ConfigError
from factloop.core.plugins import DATASETS, load_plugin, plugin_names
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import ColumnMapping, LabelledClaim, load_mapped

Loader = Callable[[str | Path], Iterator[Record]]


class UpstreamFile(Record):
    path: str
    """Its place below the folder of the part."""
    url: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None


class DatasetPart(Record):
    """The files that are read together: a split, or a task."""

    name: str
    files: tuple[UpstreamFile, ...]
    """Files in the published layout."""
    patterns: tuple[str, ...] = ()
    """Patterns for the names of published files, where upstream gives them only to those who ask."""
    own_file: str | None
    """The name of the one JSON Lines file that may hold the same rows instead."""
    columns: tuple[str, ...]
    """Columns of the published files."""
    loader: str | None = None
    """`package.module:function`: it takes a file or a folder and yields the items. Items with labels have a method
    `labelled_claims`. Without one the rows are labelled claims, by the mapping."""
    mapping: ColumnMapping = ColumnMapping()
    """How one file of labelled claims calls their fields and labels."""
    one_file: bool = False
    """Whether the loader takes a single file: of a folder the one that lies in it. It does without a loader."""


class AboutDataset(Record):
    """What a data set is, and whose."""

    name: str
    title: str
    about: str
    homepage: str
    licence: str
    citation: str
    gated: bool
    """Upstream hands it out only to those who accept its terms there."""


class Dataset(AboutDataset):
    gated: bool = False
    task: str | None = None
    """Its task group, as Godbole and Jia have them (section 4.1); data sets that they lack stand with their like."""
    parts: tuple[DatasetPart, ...]

    def part(self, name: str) -> DatasetPart:
        """The part of this name. Raises ConfigError, with the names that there are."""
        for part in self.parts:
            if part.name == name:
                return part
        raise ConfigError(f"{self.name} has no part {name!r}; it has {', '.join(part.name for part in self.parts)}")


def list_datasets() -> tuple[Dataset, ...]:
    """All data sets, by name."""
    return tuple(_by_name().values())


def find_dataset(name: str) -> Dataset:
    """The data set of this name. Raises ConfigError, with the names that there are."""
    found = _by_name().get(name)
    if found is None:
        raise ConfigError(f"there is no data set {name!r}; known are {', '.join(_by_name())}")
    return found


def load_part(name: str, part: str, place: str | Path) -> Iterator[Record]:
    """The items of one part, from its folder or from one file, one at a time.

    Raises ConfigError for an unknown name, and DataError, when it gets there, for a malformed row.
    """
    found = find_dataset(name).part(part)
    if found.loader is None:
        return load_mapped(_only_file_of(place, found.own_file), found.mapping, LabelledClaim)
    module, _, function = found.loader.partition(":")
    load: Loader = getattr(import_module(module), function)
    return load(_only_file_of(place, found.own_file) if found.one_file else place)


@cache
def _by_name() -> Mapping[str, Dataset]:
    text = resources.files("factloop.evaluation.datasets").joinpath("registry.json").read_text(encoding="utf-8")
    ours = TypeAdapter(tuple[Dataset, ...]).validate_json(text)
    known = {dataset.name: dataset for dataset in (*_from_others(), *ours)}  # ours keep their names
    return dict(sorted(known.items()))


def _from_others() -> Iterator[Dataset]:
    for name in plugin_names(DATASETS):
        dataset = load_plugin(DATASETS, name)
        if not isinstance(dataset, Dataset) or dataset.name != name:
            raise ConfigError(f"{DATASETS}: {name!r} must name a Dataset of that name, not {dataset!r:.100}")
        yield dataset


def _only_file_of(place: str | Path, own_file: str | None) -> str | Path:
    """The one file of a folder, apart from the record of where it is from.

    Raises ConfigError where there are others, with the name of the part's own file, which was looked for.
    """
    if not Path(place).is_dir():
        return place
    files = [path for path in sorted(Path(place).iterdir()) if path.is_file() and path.name[0] != "."]
    if len(files) != 1:
        named = f", none of them {own_file}; name the file itself" if own_file else "; name the file itself"
        raise ConfigError(f"{place}: one file is needed here, but there are {len(files):,}{named}")
    return files[0]
