"""The data sets that factloop supports, with their sources, licences and loaders.

factloop's own data sets are listed in `registry.json`. Other packages can add data sets through entry points in the
`factloop.datasets` group. Each entry point refers to a `Dataset`.

Each checksum is for the file at the revision in its URL. It is None if upstream publishes no checksum and the file
could not be obtained. Downloads are then recorded but not verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from factloop.core.errors import ConfigError
from factloop.core.files.tables import TableItem
from factloop.core.plugins import DATASETS, load_plugin, plugin_names
from factloop.core.records import Record
from factloop.evaluation.datasets.longfact import AnyPrompt
from factloop.evaluation.datasets.mapping import ColumnMapping, LabelledClaim, load_mapped

Loader = Callable[[str | Path], Iterator[Record]]


class UpstreamFile(Record):
    path: str
    url: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None


class DatasetPart(Record):
    """A set of files that are read together, such as all files in a split or task."""

    name: str
    files: tuple[UpstreamFile, ...]
    patterns: tuple[str, ...] = ()
    """Patterns for the names of published files, if upstream provides them only on request."""
    own_file: str | None
    """The name of a single JSON Lines file that may hold the same rows."""
    columns: tuple[str, ...]
    loader: str | None = None
    """`package.module:function`, which takes a file or a folder and yields the items. Items with labels must have a
    `labelled_claims` method. Without a loader, `mapping` is used to read rows of the kind in `holds`."""
    holds: Literal["claims", "prompts"] = "claims"
    """Labelled claims, or prompts for `factloop research generate`."""
    mapping: ColumnMapping = ColumnMapping()
    one_file: bool = False
    """Whether the loader takes a single file, which may be the only file in a folder. Ignored without a loader."""


class AboutDataset(Record):
    name: str
    title: str
    about: str
    homepage: str
    licence: str
    citation: str
    gated: bool
    """Whether users must first accept upstream's terms."""


class Dataset(AboutDataset):
    gated: bool = False
    task: str | None = None
    """The task group, as in Godbole and Jia (section 4.1). Other data sets are grouped with similar ones."""
    parts: tuple[DatasetPart, ...]

    def part(self, name: str) -> DatasetPart:
        """Raises ConfigError if the name is unknown."""
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise ConfigError(f"{self.name} has no part {name!r}; choose one of {names}")


def list_datasets() -> tuple[Dataset, ...]:
    return tuple(_by_name().values())


def find_dataset(name: str) -> Dataset:
    """Raises ConfigError if the name is unknown."""
    found = _by_name().get(name)
    if found is None:
        raise ConfigError(f"unknown data set {name!r}; choose one of {', '.join(_by_name())}")
    return found


def load_part(name: str, part: str, place: str | Path) -> Iterator[Record]:
    """Yields the items in one part, read from its folder or from a single file. Raises ConfigError if the name is
    unknown, and DataError during iteration if a row is malformed."""
    found = find_dataset(name).part(part)
    if found.loader is None:
        kind: type[TableItem] = LabelledClaim if found.holds == "claims" else AnyPrompt
        return load_mapped(_only_file_of(place, found.own_file), found.mapping, kind)
    module, _, function = found.loader.partition(":")
    load: Loader = getattr(import_module(module), function)
    return load(_only_file_of(place, found.own_file) if found.one_file else place)


@cache
def _by_name() -> Mapping[str, Dataset]:
    text = resources.files("factloop.evaluation.datasets").joinpath("registry.json").read_text(encoding="utf-8")
    ours = TypeAdapter(tuple[Dataset, ...]).validate_json(text)
    known = {dataset.name: dataset for dataset in (*_from_others(), *ours)}  # factloop's own names take precedence
    return dict(sorted(known.items()))


def _from_others() -> Iterator[Dataset]:
    for name in plugin_names(DATASETS):
        dataset = load_plugin(DATASETS, name)
        if not isinstance(dataset, Dataset) or dataset.name != name:
            raise ConfigError(f"{DATASETS}: {name!r} must refer to a Dataset with that name, not {dataset!r:.100}")
        yield dataset


def _only_file_of(place: str | Path, own_file: str | None) -> str | Path:
    """Returns the only file in a folder, ignoring the record of the source. Raises ConfigError unless there is exactly
    one."""
    if not Path(place).is_dir():
        return place
    files = [path for path in sorted(Path(place).iterdir()) if path.is_file() and path.name[0] != "."]
    if len(files) != 1:
        named = f", none of which is {own_file}; pass the file itself" if own_file else "; pass the file itself"
        raise ConfigError(f"{place} must contain a single file, but contains {len(files):,}{named}")
    return files[0]
