"""Fits the weights of the lexical verifier on human-labelled pairs of a claim and its evidence, and writes them.

    python -m benchmarks.fit_lexical

Reads wice_dev, factcheckgpt_dev_stance and expertqa_dev_claims from the folder named by FACTLOOP_DATA (default
../shared/data), and the development half of the minimal pairs beside this file, and writes
`tools/verifiers/coefficients.json`: aggregated numbers only, no text of the data. Every data set, and in it the
supported and the other pairs, has the same total weight: none of them sets the weights alone, and a score is a
probability at even odds. A quarter of the groups of each file is held out: neither the weights nor the checks and
features saw it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]  # its stubs are no dependency
from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]  # ships no type hints

from benchmarks.evidence import found_for, wice_article
from factloop.tools.embeddings.base import Embedder
from factloop.tools.verifiers.coefficients import (
    FILE_NAME,
    MAX_REFUSED,
    CoefficientFile,
    Coefficients,
    DataFile,
    ModelName,
)
from factloop.tools.verifiers.features import FEATURES
from factloop.tools.verifiers.found_pieces import FoundPieces
from factloop.tools.verifiers.lexical import (
    EMBEDDING_FEATURES,
    agreement,
    compare_texts,
    is_refused,
    texts_to_embed,
)

Floats = NDArray[np.float64]

RIDGE = 3.0
MAX_REFUSAL = 6.0
"""Log-odds that a refusal takes off at most."""
HELD_OUT = 4
"""One group in so many is held out."""
N_FOLDS = 5
REPEATS = 3
PAIRS = Path(__file__).with_name("minimal_pairs")
OUTPUT = Path(__file__).parents[1] / "tools" / "verifiers" / FILE_NAME


@dataclass(frozen=True)
class Pair:
    """A claim, its evidence, and whether people found it fully supported."""

    data_set: str
    group: str
    """Pairs of one group never stand on both sides of a split."""
    claim: str
    found: FoundPieces
    label: str
    """The label in the data."""
    supported: bool


@dataclass(frozen=True)
class Table:
    """Measurements of n pairs. Where a pair shares no content its features are 0 and so is its score."""

    features: Floats
    """Shape (n, n_features)."""
    comparable: NDArray[np.bool_]
    refused: NDArray[np.bool_]
    """Whether support is refused for a mismatch or a gap."""
    supported: NDArray[np.bool_]
    data_set: NDArray[np.str_]
    group: NDArray[np.str_]

    def __getitem__(self, rows: NDArray[Any]) -> Table:
        return Table(
            self.features[rows],
            self.comparable[rows],
            self.refused[rows],
            self.supported[rows],
            self.data_set[rows],
            self.group[rows],
        )


def data_folder() -> Path:
    return Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _wice(path: Path) -> Iterator[Pair]:
    """Grouped by the Wikipedia article that the claim stands in."""
    for row in _rows(path):
        found = found_for(row["claim"], [wice_article(row["evidence"])])
        yield Pair("wice", row["title"], row["claim"], found, row["label"], row["label"] == "supported")


def _stance(path: Path) -> Iterator[Pair]:
    """Grouped by claim."""
    for row in _rows(path):
        claim, label = row["claim"], row["label"]
        found = found_for(claim, [Document(row["evidence"])])
        yield Pair("stance", claim, claim, found, label, label == "completely-support")


def _expertqa(path: Path) -> Iterator[Pair]:
    """Grouped by answer; only pairs with a passage and a label of support, citation marks taken out."""
    for row in _rows(path):
        passages = [Document(item["passage"]) for item in row["evidence"] if item["passage"]]
        if passages and row["support"] in {"Complete", "Partial", "Incomplete"}:
            claim = re.sub(r"\[\d+\]", "", row["claim"])
            found = found_for(claim, passages)
            yield Pair("expertqa", row["answer_id"], claim, found, row["support"], row["support"] == "Complete")


def _minimal(path: Path) -> Iterator[Pair]:
    """Both twins of a pair are of one group."""
    for row in _rows(path):
        for twin in ("true", "false"):
            found = found_for(row[twin], [Document(row["evidence"])])
            yield Pair("minimal pairs", row["id"], row[twin], found, twin, twin == "true")


READERS: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "wice_dev.jsonl": _wice,
    "factcheckgpt_dev_stance.jsonl": _stance,
    "expertqa_dev_claims.jsonl": _expertqa,
}


def absent_files(folder: Path) -> list[str]:
    return [name for name in READERS if not (folder / name).is_file()]


def read_pairs(folder: Path) -> list[Pair]:
    """All pairs of people's data sets. Raises FileNotFoundError where one is absent."""
    return [pair for name, read in READERS.items() for pair in read(folder / name)]


def is_held_out(pair: Pair) -> bool:
    """Whether the pair is kept from the fit and from the eyes of those who make checks and features."""
    return hashlib.sha256(f"{pair.data_set}:{pair.group}".encode()).digest()[0] % HELD_OUT == 0


def development_pairs(folder: Path) -> list[Pair]:
    """The pairs of the fit: people's, less the groups held out, and the minimal pairs of development."""
    shown = [pair for pair in read_pairs(folder) if not is_held_out(pair)]
    return [*shown, *_minimal(PAIRS / "development.jsonl")]


def held_out_pairs(folder: Path) -> list[Pair]:
    return [pair for pair in read_pairs(folder) if is_held_out(pair)]


def measure(pairs: Sequence[Pair], embedder: Embedder | None = None) -> Table:
    """The features of every pair; with an embedding model some 25 ms a pair."""
    n_features = len(FEATURES) + (len(EMBEDDING_FEATURES) if embedder is not None else 0)
    features = np.zeros((len(pairs), n_features))
    comparable, refused = np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool)
    comparisons = [compare_texts(pair.claim, pair.found.passages, pair.found.documents) for pair in pairs]
    if embedder is not None:  # all at once and kept: batches of texts of one length are several times faster
        compared = zip(pairs, comparisons, strict=True)
        embedder.encode([text for pair, found in compared if found for text in texts_to_embed(pair.claim, found)])
    for row, (pair, comparison) in enumerate(zip(pairs, comparisons, strict=True)):
        if comparison is not None:
            features[row] = list(agreement(pair.claim, comparison, embedder).values())
            comparable[row], refused[row] = True, is_refused(comparison)
    return Table(
        features,
        comparable,
        refused,
        np.array([pair.supported for pair in pairs]),
        np.array([pair.data_set for pair in pairs]),
        np.array([f"{pair.data_set}:{pair.group}" for pair in pairs]),
    )


def equal_weights(table: Table) -> Floats:
    """Weights of mean 1 that give every data set, and both answers in each, the same total."""
    weights = np.zeros(len(table.supported))
    for data_set in np.unique(table.data_set):
        for answer in (True, False):
            rows = (table.data_set == data_set) & (table.supported == answer)
            weights[rows] = 1.0 / max(1, rows.sum())
    normalised: Floats = weights / weights.mean()
    return normalised


def fit(table: Table) -> Coefficients:
    """A logistic model with weights of no less than zero, ridge penalty and equal weights; then the cost of a refusal.

    The weights are of rows that are not refused.
    """
    chosen = table.comparable & ~table.refused
    rows, weights = table[chosen], equal_weights(table)[chosen]
    mean, spread = rows.features.mean(axis=0), rows.features.std(axis=0) + 1e-9
    standard, signs = (rows.features - mean) / spread, np.where(rows.supported, 1.0, -1.0)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        slopes, intercept = parameters[:-1], parameters[-1]
        margins = signs * (standard @ slopes + intercept)
        pull = -signs * weights / (1.0 + np.exp(margins))
        value = weights @ np.logaddexp(0.0, -margins) + RIDGE * slopes @ slopes
        return float(value), np.append(standard.T @ pull + 2.0 * RIDGE * slopes, pull.sum())

    n_features = standard.shape[1]
    bounds = [(0.0, None)] * n_features + [(None, None)]
    found = minimize(loss, np.zeros(n_features + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    slopes = found[:-1] / spread
    intercept = float(found[-1] - mean @ slopes)
    return Coefficients(
        intercept=intercept,
        weights=dict(zip(_names(n_features), slopes.tolist(), strict=True)),
        refusal=_cost_of_refusal(table, table.features @ slopes + intercept),
    )


def _cost_of_refusal(table: Table, logits: Floats) -> float:
    """The log-odds to take off where support is refused, by likelihood."""
    rows = table.comparable & table.refused
    weights, signs = equal_weights(table)[rows], np.where(table.supported[rows], 1.0, -1.0)
    costs = np.linspace(0.0, MAX_REFUSAL, 61).tolist()
    return float(min(costs, key=lambda cost: weights @ np.logaddexp(0.0, -signs * (logits[rows] - cost))))


def _names(n_features: int) -> tuple[str, ...]:
    return (*FEATURES, *EMBEDDING_FEATURES)[:n_features]


def scores(model: Coefficients, table: Table) -> Floats:
    """Scores as the verifier gives them, shape (n,)."""
    logits = table.features @ np.array(list(model.weights.values())) + model.intercept
    plain = 1.0 / (1.0 + np.exp(-logits))
    refused = np.minimum(MAX_REFUSED, 1.0 / (1.0 + np.exp(model.refusal - logits)))
    return np.where(table.comparable, np.where(table.refused, refused, plain), 0.0)


def calibration_error(values: Floats, supported: NDArray[np.bool_], weights: Floats) -> float:
    """Expected calibration error over ten bins of equal width: the mean gap of score and share of supported pairs."""
    bins = np.minimum((values * 10).astype(int), 9)
    gaps = [abs(float(weights[bins == one] @ (values - supported)[bins == one])) for one in range(10)]
    return sum(gaps) / float(weights.sum())


def rates(values: Floats, supported: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Balanced accuracy, tpr and tnr at the threshold of 0.5."""
    tpr, tnr = float((values[supported] >= 0.5).mean()), float((values[~supported] < 0.5).mean())
    return (tpr + tnr) / 2, tpr, tnr


def cross_validated(table: Table, train_on: Sequence[str]) -> Floats:
    """Scores of every pair by models that saw nothing of its group, shape (REPEATS, n)."""
    held_out = np.zeros((REPEATS, len(table.supported)))
    for repeat in range(REPEATS):
        folds = GroupKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(table.features, groups=table.group):
            model = fit(table[train[np.isin(table.data_set[train], train_on)]])
            held_out[repeat, test] = scores(model, table[test])
    return held_out


def _reached(table: Table, data_sets: Sequence[str]) -> dict[str, dict[str, float]]:
    held_out = cross_validated(table, data_sets)
    reached = {}
    for data_set in data_sets:
        rows = table.data_set == data_set
        accuracy, tpr, tnr = np.mean([rates(values[rows], table.supported[rows]) for values in held_out], axis=0)
        means = {"balanced_accuracy": accuracy, "tpr": tpr, "tnr": tnr}
        reached[data_set] = {name: round(float(mean), 3) for name, mean in means.items()}
    return reached


def _data_file(path: Path, pairs: Sequence[Pair]) -> DataFile:
    return DataFile(name=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), n_pairs=len(pairs))


def main() -> int:
    folder = data_folder()
    absent = absent_files(folder)
    if absent:
        sys.stderr.write(f"nothing was fitted: {folder} lacks {', '.join(absent)} (set FACTLOOP_DATA)\n")
        return 2
    pairs = development_pairs(folder)
    from factloop.tools.embeddings.sentence import packaged_minilm

    tables: dict[ModelName, Table] = {
        "words": measure(pairs),
        "words_and_embeddings": measure(pairs, packaged_minilm()),
    }
    data_sets = sorted({pair.data_set for pair in pairs})
    result = CoefficientFile(
        command="python -m benchmarks.fit_lexical",
        data=tuple(_data_file(folder / name, list(read(folder / name))) for name, read in READERS.items()),
        reached={name: _reached(table, data_sets) for name, table in tables.items()},
        models={name: _rounded(fit(table)) for name, table in tables.items()},
    )
    OUTPUT.write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"{OUTPUT}\n{json.dumps(result.model_dump()['reached'], indent=2)}\n")
    return 0


def _rounded(model: Coefficients) -> Coefficients:
    weights = {name: round(weight, 4) for name, weight in model.weights.items()}
    return Coefficients(intercept=round(model.intercept, 4), weights=weights, refusal=model.refusal)


if __name__ == "__main__":
    sys.exit(main())
