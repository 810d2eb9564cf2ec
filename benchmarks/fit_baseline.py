"""Fits the packaged baseline on human-labelled claims with their evidence, and writes its weights and thresholds.

    python -m benchmarks.fit_baseline

Reads people's data from the folder named by FACTLOOP_DATA (default ../shared/data), pairs of other kinds from
FACTLOOP_PAIRS (default ../shared/training/pairs.jsonl.gz), and whole texts with labelled facts from
`benchmarks/texts/development`. Writes `tools/judges/baseline.json`:
aggregated numbers and frequencies of common words, no text of the data. Every data set, and in it the supported and the
other pairs, has the same total weight, so that a score is a probability at even odds.

The figures it writes are cross-validated by document: the weights did not see the document. Features, the conditions
of `supported` and the threshold of `contradicted` were chosen while looking at all of these files, so figures of the
whole texts are those of development; only texts that nobody looked at are unseen. Pairs whose licence keeps them out of
the fit are only measured.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]  # ships no type hints
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]

from benchmarks.evidence import RESULTS, found_for, wice_article
from factloop.tools.judges import baseline
from factloop.tools.judges.baseline import FEATURES, FILE_NAME, compare, load_model
from factloop.tools.judges.found_pieces import FoundPieces, find_pieces
from factloop.tools.judges.source_sentences import split_sentences, stems_of
from factloop.tools.search.given import GivenDocuments

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]

FITTED = ("wice", "stance", "expertqa", "texts", "fever_dev", "contract_nli")
MEASURED = (*FITTED, "minimal pairs", "fm2", "fever_symmetric", "xsumfaith", "qags")
PAIRS_OF_EACH = 800
N_FOLDS = 5
STRENGTH = 0.02
"""Inverse of the ridge penalty."""
COMMON = 40
"""Sentences that a stem stands in, for its frequency to be packaged."""
REFUTING = frozenset({"contradicted", "refute", "2"})
OUTPUT = Path(__file__).parents[1] / "tools" / "judges" / FILE_NAME


@dataclass(frozen=True)
class Pair:
    """A claim, its evidence, and what people said of it."""

    data_set: str
    group: str
    """Pairs of one group never stand on both sides of a split."""
    claim: str
    found: FoundPieces
    label: str
    supported: bool


@dataclass(frozen=True)
class Table:
    """Measurements of n pairs; rows that share no content have features of 0 and are not comparable."""

    features: Floats
    """Shape (n, n_features)."""
    comparable: Rows
    is_said: Rows
    contradicts: Rows
    supported: Rows
    refuted: Rows
    data_set: NDArray[np.str_]
    group: NDArray[np.str_]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    yield from (json.loads(line) for line in text.split("\n") if line)


def people_pairs(folder: Path) -> Iterator[Pair]:
    for row in _rows(folder / "wice_dev.jsonl"):
        found = found_for(row["claim"], [wice_article(row["evidence"])])
        yield Pair("wice", row["title"], row["claim"], found, row["label"], row["label"] == "supported")
    for row in _rows(folder / "factcheckgpt_dev_stance.jsonl"):
        found, label = found_for(row["claim"], [Document(row["evidence"])]), row["label"]
        yield Pair("stance", row["claim"], row["claim"], found, label, label == "completely-support")
    for row in _rows(folder / "expertqa_dev_claims.jsonl"):
        passages = [Document(item["passage"]) for item in row["evidence"] if item["passage"]]
        if passages and row["support"] in {"Complete", "Partial", "Incomplete"}:
            claim, label = re.sub(r"\[\d+\]", "", row["claim"]), row["support"]
            yield Pair("expertqa", row["answer_id"], claim, found_for(claim, passages), label, label == "Complete")


def other_pairs(path: Path) -> Iterator[Pair]:
    """A fixed sample of the sources that this file names, grouped by premise."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(path):
        if row["source"] in MEASURED:
            by_source.setdefault(row["source"], []).append(row)
    for source, rows in sorted(by_source.items()):
        for row in random.Random(0).sample(rows, min(PAIRS_OF_EACH, len(rows))):
            found = found_for(row["hypothesis"], [Document(row["premise"])])
            yield Pair(source, row["premise"], row["hypothesis"], found, str(row["y"]), row["y"] == 0)


def minimal_pairs(path: Path) -> Iterator[Pair]:
    for row in _rows(path):
        for twin in ("true", "false"):
            label = "supported" if twin == "true" else "contradicted"
            found = found_for(row[twin], [Document(row["evidence"])])
            yield Pair("minimal pairs", row["id"], row[twin], found, label, twin == "true")


def text_pairs(folder: Path) -> Iterator[Pair]:
    """The labelled facts of whole texts, each against the sources of its text through a search."""
    for text in sorted(path.parent for path in folder.glob("*/labels.jsonl")):
        sources = sorted((text / "sources").glob("*.md"))
        documents = [Document(path.read_text(encoding="utf-8"), metadata={"source": path.name}) for path in sources]
        given = GivenDocuments(documents)
        for row in _rows(text / "labels.jsonl"):
            found = find_pieces(row["fact"], given, RESULTS)
            yield Pair("texts", text.name, row["fact"], found, row["label"], row["label"] == "supported")


def read_pairs() -> list[Pair]:
    """All pairs. Raises FileNotFoundError where a file is absent."""
    here = Path(__file__).parents[1]
    folders = [str(here / "benchmarks/texts/development")]
    return [
        *people_pairs(Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))),
        *other_pairs(pairs_file()),
        *minimal_pairs(here / "benchmarks/minimal_pairs/development.jsonl"),
        *(pair for folder in folders if folder for pair in text_pairs(Path(folder))),
    ]


def pairs_file() -> Path:
    return Path(os.environ.get("FACTLOOP_PAIRS", "../shared/training/pairs.jsonl.gz"))


def common_words(path: Path) -> tuple[dict[str, int], int]:
    """In how many sentences each common stem stands, and the number of sentences, of licensed premises."""
    counts: Counter[str] = Counter()
    sources = ("fever_dev", "fm2", "fm2_other", "mnli_pieces", "contract_nli")
    premises = dict.fromkeys(row["premise"] for row in _rows(path) if row["source"] in sources)
    sentences = [sentence for premise in premises for sentence, _ in split_sentences(premise)]
    for sentence in sentences:
        counts.update(stems_of(sentence))
    return {key: n for key, n in counts.most_common() if n >= COMMON}, len(sentences)


def measure(pairs: Sequence[Pair]) -> Table:
    found = [compare(pair.claim, pair.found.passages, pair.found.documents) for pair in pairs]
    zeros = (0.0,) * len(FEATURES)

    def column(value: Any) -> Rows:
        return np.array([one is not None and bool(value(one)) for one in found])

    return Table(
        features=np.array([zeros if one is None else one.features for one in found]),
        comparable=column(lambda _: True),
        is_said=column(lambda one: one.is_said and one.difference is None),
        contradicts=column(lambda one: one.difference is not None),
        supported=np.array([pair.supported for pair in pairs]),
        refuted=np.array([pair.label in REFUTING for pair in pairs]),
        data_set=np.array([pair.data_set for pair in pairs]),
        group=np.array([hashlib.sha256(f"{pair.data_set}:{pair.group}".encode()).hexdigest() for pair in pairs]),
    )


def even_weights(table: Table, rows: NDArray[Any]) -> Floats:
    """Weights of mean 1 that give every data set, and both answers in each, the same total."""
    weights = np.zeros(len(rows))
    for data_set in np.unique(table.data_set[rows]):
        for answer in (True, False):
            chosen = (table.data_set[rows] == data_set) & (table.supported[rows] == answer)
            weights[chosen] = 1.0 / max(1, chosen.sum())
    normalised: Floats = weights / weights.mean()
    return normalised


def fit(table: Table, rows: NDArray[Any]) -> tuple[Floats, float]:
    """Weights and intercept by logistic regression with a ridge penalty on standardised features."""
    mean, spread = table.features[rows].mean(axis=0), table.features[rows].std(axis=0) + 1e-9
    regression = LogisticRegression(C=STRENGTH, max_iter=500)
    regression.fit((table.features[rows] - mean) / spread, table.supported[rows], even_weights(table, rows))
    weights: Floats = regression.coef_[0] / spread
    return weights, float(regression.intercept_[0] - weights @ mean)


def scores(table: Table, weights: Floats, intercept: float) -> Floats:
    plain = 1.0 / (1.0 + np.exp(-(table.features @ weights + intercept)))
    said = np.where(table.is_said, np.maximum(plain, baseline.SUPPORTED), plain)
    refuted = np.where(table.contradicts, np.minimum(said, baseline.REFUTED), said)
    return np.where(table.comparable, refuted, 0.0)


def cross_validated(table: Table) -> Floats:
    """Scores (n,) of every pair, with weights that saw nothing of its document."""
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=0).split(table.features, groups=table.group)
    fitted = table.comparable & np.isin(table.data_set, FITTED)
    values = np.zeros(len(table.supported))
    for train, test in folds:
        values[test] = scores(table, *fit(table, train[fitted[train]]))[test]
    return values


def _share(values: Rows) -> float | None:
    return round(float(values.mean()), 3) if values.size else None


def reached(table: Table, values: Floats) -> dict[str, dict[str, float | int | None]]:
    """By data set: AUC and balanced accuracy of the score, then how often the two labels are right."""
    figures: dict[str, dict[str, float | int | None]] = {}
    for name in MEASURED:
        rows = table.data_set == name
        truth, score = table.supported[rows], values[rows]
        passed = table.is_said[rows]
        refuted = table.contradicts[rows]
        recalls = [(score[truth] >= 0.5).mean(), (score[~truth] < 0.5).mean()]
        figures[name] = {
            "n": int(rows.sum()),
            "auc": round(float(roc_auc_score(truth, score)), 3),
            "balanced_accuracy": round(float(np.mean(recalls)), 3),
            "n_supported": int(passed.sum()),
            "supported_right": _share(truth[passed]),
            "true_supported": _share(passed[truth]),
            "errors_supported": _share(passed[~truth]),
            "n_contradicted": int(refuted.sum()),
            "contradicted_right": _share(table.refuted[rows][refuted]),
            "contradicted_not_supported": _share(~truth[refuted]),
        }
    return figures


def main() -> int:
    try:
        pairs, (frequencies, n_sentences) = read_pairs(), common_words(pairs_file())
    except FileNotFoundError as error:
        sys.stderr.write(f"nothing was fitted: {error.filename} is absent (set FACTLOOP_DATA, FACTLOOP_PAIRS)\n")
        return 2
    table = measure(pairs)
    values = cross_validated(table)
    weights, intercept = fit(table, np.flatnonzero(table.comparable & np.isin(table.data_set, FITTED)))
    figures = reached(table, values)
    model = {
        "intercept": round(intercept, 4),
        "weights": {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)},
        "contradicted": load_model().contradicted,
    }
    content = {"command": "python -m benchmarks.fit_baseline", "cross_validated": figures, "model": model}
    words = f'"n_sentences": {n_sentences},\n "frequencies": {json.dumps(frequencies)}'  # on one line
    OUTPUT.write_text(f"{json.dumps(content, indent=1)[:-2]},\n {words}\n}}\n", encoding="utf-8")
    sys.stdout.write(f"{OUTPUT}\n{json.dumps(model)}\n")
    for name, row in figures.items():
        sys.stdout.write(f"{name:16}" + " ".join(f"{key}={value}" for key, value in row.items()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
