"""The fitted weights of the lexical verifier, read from `coefficients.json` beside this file.

`python -m benchmarks.fit_lexical` writes that file, with the data it was fitted on and the figures it reached.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from math import exp
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.records import Record

FILE_NAME = "coefficients.json"

MAX_REFUSED = 0.45
"""The highest score where support is refused for a mismatch or a gap, whatever else agrees."""

ModelName = Literal["words", "words_and_embeddings"]


class Coefficients(Record):
    """A logistic model over named features; a score of 0.5 is the threshold of support."""

    intercept: float
    weights: dict[str, Annotated[float, Field(ge=0.0)]]
    """Weights by feature; none is negative, so that more agreement never lowers a score."""
    refusal: Annotated[float, Field(ge=0.0)]
    """Log-odds that a reason to refuse support takes off."""

    def score(self, features: dict[str, float], *, refused: bool) -> float:
        """Degree of support in (0, 1); where it is refused, at most `MAX_REFUSED`.

        Raises KeyError where a weighted feature is not given.
        """
        z = self.intercept + sum(weight * features[name] for name, weight in self.weights.items())
        if not refused:
            return 1.0 / (1.0 + exp(-z))
        return min(MAX_REFUSED, 1.0 / (1.0 + exp(self.refusal - z)))


class DataFile(Record):
    """One of the files that the weights were fitted on."""

    name: str
    sha256: str
    n_pairs: int


class CoefficientFile(Record):
    """The contents of `coefficients.json`."""

    command: str
    data: tuple[DataFile, ...]
    reached: dict[ModelName, dict[str, dict[str, float]]]
    """By model and data set: balanced accuracy, TPR and TNR by grouped cross-validation."""
    models: dict[ModelName, Coefficients]


@cache
def load_coefficients(model: ModelName) -> Coefficients:
    """The packaged weights of one of the two models."""
    text = files("factloop.tools.verifiers").joinpath(FILE_NAME).read_text(encoding="utf-8")
    return CoefficientFile.model_validate(json.loads(text)).models[model]
