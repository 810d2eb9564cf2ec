"""An NLI encoder as the judge of passages, from a path, on a tiny checkpoint that the test makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop import TrustScorer
from tests.tools.judges.tiny_models import save_biased

NLI = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
PASSAGES = "id\ttext\ttitle\n1\tThe Tiber rises in the Apennines and flows through Rome to the sea.\tTiber\n"


@pytest.mark.torch
@pytest.mark.parametrize(
    ("biases", "relation", "value"),
    [([0.0, 0.0, 9.0], "support", 1.0), ([0.0, 9.0, 0.0], "neutral", 0.5), ([9.0, 0.0, 0.0], "contradict", 0.0)],
)
async def test_its_labels_are_the_relations(tmp_path: Path, biases: list[float], relation: str, value: float) -> None:
    corpus = tmp_path / "passages.tsv"
    corpus.write_text(PASSAGES, encoding="utf-8")
    model = save_biased(tmp_path / "nli", NLI, biases)
    async with TrustScorer(corpus=corpus, nli=str(model), cache_dir=tmp_path / "cache") as scorer:
        report = await scorer.ascore("Which city does the Tiber flow through?", "The Tiber flows through Rome.")
    assert (report.trust_fc.relation, report.trust_fc.value) == (relation, value)
    assert [passage.title for passage in report.trust_fc.passages] == ["Tiber"]
    assert str(model) in report.trust_fc.judged_by or model.name in report.trust_fc.judged_by
    assert report.warnings == ()
