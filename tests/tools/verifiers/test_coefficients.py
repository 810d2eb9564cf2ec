"""The packaged weights: what they are made of, and that they are the ones fitted to the data."""

from __future__ import annotations

import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from factloop.tools.verifiers.coefficients import (
    FILE_NAME,
    MAX_REFUSED,
    CoefficientFile,
    Coefficients,
    ModelName,
    load_coefficients,
)
from factloop.tools.verifiers.features import FEATURES
from factloop.tools.verifiers.lexical import EMBEDDING_FEATURES, LexicalVerifier

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
STANCE = DATA / "factcheckgpt_dev_stance.jsonl"


@pytest.fixture(scope="module")
def packaged() -> CoefficientFile:
    text = files("factloop.tools.verifiers").joinpath(FILE_NAME).read_text(encoding="utf-8")
    return CoefficientFile.model_validate(json.loads(text))


def test_score_worked_by_hand() -> None:
    # z = -1 + 2 * 0.5 + 3 * 0 = 0, so the score is 1/2.
    model = Coefficients(intercept=-1.0, weights={"a": 2.0, "b": 3.0}, refusal=4.0)
    assert model.score({"a": 0.5, "b": 0.0, "unused": 9.0}, refused=False) == 0.5
    assert model.score({"a": 0.5, "b": 1.0}, refused=False) == pytest.approx(0.9526, abs=1e-4)  # 1 / (1 + e^-3)
    assert model.score({"a": 0.5, "b": 1.0}, refused=True) == pytest.approx(0.2689, abs=1e-4)  # 1 / (1 + e^(4-3))
    assert model.score({"a": 9.0, "b": 1.0}, refused=True) == MAX_REFUSED < 0.5


def test_there_is_one_weight_a_feature(packaged: CoefficientFile) -> None:
    assert set(packaged.models) == set(get_args(ModelName))
    assert tuple(packaged.models["words"].weights) == FEATURES
    assert tuple(packaged.models["words_and_embeddings"].weights) == FEATURES + EMBEDDING_FEATURES


def test_full_agreement_is_supported_and_none_is_not() -> None:
    for name in get_args(ModelName):
        model = load_coefficients(name)
        assert model.score(dict.fromkeys(model.weights, 1.0), refused=False) > 0.8
        assert model.score(dict.fromkeys(model.weights, 0.0), refused=False) < 0.2


@pytest.mark.parametrize("data_set", ["wice", "stance"])
def test_the_figures_reached_stand_with_the_weights(packaged: CoefficientFile, data_set: str) -> None:
    for reached in packaged.reached.values():
        assert reached[data_set]["balanced_accuracy"] >= 0.66


@pytest.mark.statistical
@pytest.mark.skipif(not STANCE.is_file(), reason=f"{STANCE} is absent (set FACTLOOP_DATA)")
def test_the_packaged_weights_do_on_the_data_what_they_say(packaged: CoefficientFile) -> None:
    known = {file.name: file.sha256 for file in packaged.data}
    assert hashlib.sha256(STANCE.read_bytes()).hexdigest() == known[STANCE.name]
    rows = [json.loads(line) for line in STANCE.read_text(encoding="utf-8").splitlines()]
    verifier = LexicalVerifier()
    right: dict[bool, list[bool]] = {True: [], False: []}
    for row in rows:
        supported = row["label"] == "completely-support"
        right[supported].append((verifier.verify(row["claim"], [row["evidence"]]).label == "supported") == supported)
    tpr, tnr = (sum(right[answer]) / len(right[answer]) for answer in (True, False))
    # what was reached is of the part that the weights were fitted on, by cross-validation
    assert (tpr + tnr) / 2 == pytest.approx(packaged.reached["words"]["stance"]["balanced_accuracy"], abs=0.03)
