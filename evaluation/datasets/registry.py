"""The data sets that factloop knows: where they are published, under which licence, and what reads them.

A checksum is that of the file at the revision which its address names. It is None where upstream publishes none and the
file itself could not be had; then what was downloaded is recorded, and compared with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from factloop.core.errors import ConfigError
from factloop.core.records import Record
from factloop.evaluation.datasets import factcheckgpt
from factloop.evaluation.datasets.expertqa import load_expertqa
from factloop.evaluation.datasets.factscore import load_factscore
from factloop.evaluation.datasets.llm_aggrefact import load_llm_aggrefact
from factloop.evaluation.datasets.longfact import load_longfact
from factloop.evaluation.datasets.mixedqa import MixedQaItem, load_mixedqa
from factloop.evaluation.datasets.mixedqa_published import load_published_mixedqa
from factloop.evaluation.datasets.refchecker import load_refchecker
from factloop.evaluation.datasets.tofueval import load_tofueval
from factloop.evaluation.datasets.wice import load_wice

Loader = Callable[[str | Path], Iterator[Record]]


class UpstreamFile(Record):
    path: str
    """Its place below the folder of the part."""
    url: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None


class DatasetPart(Record):
    """What is read together: a split, or a task."""

    name: str
    files: tuple[UpstreamFile, ...]
    """In the published layout."""
    patterns: tuple[str, ...] = ()
    """Names that published files have, where upstream gives them only to those who ask."""
    own_file: str | None
    """The name of the one file, JSON Lines, that the same rows may stand in."""
    columns: tuple[str, ...]
    """Columns of the published files."""


class Dataset(Record):
    name: str
    title: str
    about: str
    homepage: str
    licence: str
    citation: str
    gated: bool = False
    """Upstream hands it out only to those who accept its terms there."""
    parts: tuple[DatasetPart, ...]

    def part(self, name: str) -> DatasetPart:
        """Raises ConfigError, with the names that there are."""
        for part in self.parts:
            if part.name == name:
                return part
        raise ConfigError(f"{self.name} has no part {name!r}; it has {', '.join(part.name for part in self.parts)}")


def list_datasets() -> tuple[Dataset, ...]:
    """All of them, by name."""
    return tuple(_by_name().values())


def find_dataset(name: str) -> Dataset:
    """Raises ConfigError, with the names that there are."""
    found = _by_name().get(name)
    if found is None:
        raise ConfigError(f"there is no data set {name!r}; there are {', '.join(_by_name())}")
    return found


def load_part(name: str, part: str, place: str | Path) -> Iterator[Record]:
    """The items of one part, from its folder or from one file, one at a time.

    Raises ConfigError for a name that is none, and DataError, when it gets there, for a malformed row.
    """
    found = find_dataset(name).part(part)
    return _LOADERS[name, found.name](place)


@cache
def _by_name() -> Mapping[str, Dataset]:
    text = resources.files("factloop.evaluation.datasets").joinpath("registry.json").read_text(encoding="utf-8")
    return {dataset.name: dataset for dataset in TypeAdapter(tuple[Dataset, ...]).validate_json(text)}


def load_any_mixedqa(place: str | Path) -> Iterator[MixedQaItem]:
    """MixedQA as published or in our own layout, from one file or from the folder that it was put into."""
    folder = Path(place)
    if folder.is_dir():
        theirs = folder / "qa_human_check.json"
        place = theirs if theirs.is_file() else folder / "mixedqa.jsonl"
    return load_published_mixedqa(place) if str(place).endswith(".json") else load_mixedqa(place)


def _only_file(load: Loader) -> Loader:
    """Of a folder, the one file in it that is no record of where it is from."""

    def load_it(place: str | Path) -> Iterator[Record]:
        if Path(place).is_dir():
            files = [path for path in sorted(Path(place).iterdir()) if path.is_file() and path.name[0] != "."]
            if len(files) != 1:
                raise ConfigError(f"{place}: one file is needed here, and there are {len(files)}")
            place = files[0]
        return load(place)

    return load_it


_LOADERS: Mapping[tuple[str, str], Loader] = {
    ("expertqa", "claims"): _only_file(load_expertqa),
    ("factcheckgpt", "decomposition"): _only_file(factcheckgpt.load_decomposition),
    ("factcheckgpt", "sentence-checkworthiness"): _only_file(factcheckgpt.load_sentence_checkworthiness),
    ("factcheckgpt", "claim-checkworthiness"): _only_file(factcheckgpt.load_claim_checkworthiness),
    ("factcheckgpt", "stance"): _only_file(factcheckgpt.load_stance),
    ("factscore", "bio"): load_factscore,
    ("llm-aggrefact", "dev"): load_llm_aggrefact,
    ("llm-aggrefact", "test"): load_llm_aggrefact,
    ("longfact", "objects"): load_longfact,
    ("longfact", "concepts"): load_longfact,
    ("mixedqa", "answers"): load_any_mixedqa,
    ("refchecker", "annotations"): load_refchecker,
    ("tofueval", "mediasum-dev"): _only_file(load_tofueval),
    ("tofueval", "mediasum-test"): _only_file(load_tofueval),
    ("tofueval", "meetingbank-dev"): _only_file(load_tofueval),
    ("tofueval", "meetingbank-test"): _only_file(load_tofueval),
    ("wice", "dev"): _only_file(load_wice),
    ("wice", "test"): _only_file(load_wice),
}
