"""The items of every labelled data set as claims with a label, which verifiers score and the audit reads.

1 is attributable: wholly supported, as LLM-AggreFact counts (arXiv 2404.10774); partial support is 0. What has no such
label (irrelevant facts, claims without a judgement) is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from factloop.core.errors import ConfigError
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.datasets.registry import find_dataset, load_part


@runtime_checkable
class LabelledItem(Protocol):
    """An item with labels."""

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        """The labelled claims that it holds."""
        ...


def labelled_claims(name: str, part: str, place: str | Path) -> Iterator[LabelledClaim]:
    """The claims of one part, from its folder or from one file, one at a time.

    Raises ConfigError for an unknown name and for a data set without labelled claims, and DataError, when it gets
    there, for a malformed row.
    """
    task = find_dataset(name).task
    for item in load_part(name, part, place):
        for claim in claims_of(item):
            yield claim.model_copy(update={"dataset": claim.dataset or name, "task": task})


def claims_of(item: Record) -> Iterator[LabelledClaim]:
    """The labelled claims that an item holds. Raises ConfigError for a kind of item that holds none."""
    if not isinstance(item, LabelledItem):
        raise ConfigError(f"a {type(item).__name__} holds no labelled claim")
    return item.labelled_claims()
