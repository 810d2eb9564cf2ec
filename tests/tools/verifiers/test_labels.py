"""Which output of a classifier is support: told by the names of its labels."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.tools.verifiers.labels import LabelPlaces


@pytest.mark.parametrize(
    ("names", "support", "contradict"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], 2, 0),
        (["entailment", "not_entailment"], 0, None),
        (["not-supported", "supported"], 1, None),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], 0, 1),
        (["inconsistent", "consistent"], 1, None),
        (["LABEL_0", "LABEL_1"], 1, None),
    ],
)
def test_labels_are_read_by_name(names: list[str], support: int, contradict: int | None) -> None:
    assert LabelPlaces.of(dict(enumerate(names))) == LabelPlaces(support, contradict)


@pytest.mark.parametrize("names", [["LABEL_0", "LABEL_1", "LABEL_2"], ["positive", "negative"], ["LABEL_0"]])
def test_labels_that_do_not_tell_are_refused(names: list[str]) -> None:
    with pytest.raises(ConfigError, match="which one is support"):
        LabelPlaces.of(dict(enumerate(names)))
