"""The labels of sequence classifiers that verify: which output is support, and which speaks against the claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from factloop.core.errors import ConfigError

_SUPPORT = ("entail", "support", "consistent", "faithful", "factual")
_AGAINST = ("contradict", "refut")


@dataclass(frozen=True)
class LabelPlaces:
    """Places of a model's outputs that speak for the claim and, where it tells, against it."""

    support: int
    contradict: int | None

    @classmethod
    def of(cls, id2label: Mapping[int, str]) -> LabelPlaces:
        """Reads the names of the labels; two nameless labels (LABEL_0, LABEL_1) are taken as 1 = supported.

        Raises ConfigError where the names do not say which label is support.
        """
        names = {place: label.lower().replace("-", "_").replace(" ", "_") for place, label in id2label.items()}
        support = [place for place, name in names.items() if name.startswith(_SUPPORT)]
        against = [place for place, name in names.items() if name.startswith(_AGAINST)]
        if not support and names == {0: "label_0", 1: "label_1"}:
            support = [1]
        if len(support) != 1 or len(against) > 1:
            raise ConfigError(f"the labels of the encoder do not tell which one is support: {sorted(names.values())}")
        return cls(support[0], against[0] if against else None)
