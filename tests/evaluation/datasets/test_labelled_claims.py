from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.labelled_claims import claims_of, labelled_claims
from factloop.evaluation.datasets.mapping import LabelledClaim
from tests.evaluation.datasets.dataset_files import array, jsonl, published


def test_facts_are_claims_and_irrelevant_ones_are_none(tmp_path: Path) -> None:
    facts = [{"text": text, "label": label} for text, label in [("A.", "S"), ("B.", "IR"), ("C.", "NS"), ("A.", "NS")]]
    row = {"id": "r", "system": "s", "topic": "t", "prompt": "p", "response": "A. B. C."}
    path = jsonl(tmp_path / "bio.jsonl", {**row, "sentences": [{"text": "A. B. C.", "atomic_facts": facts}]})
    first, second = labelled_claims("factscore", "bio", path)
    assert first == LabelledClaim(
        id="r/0",
        dataset="factscore",
        system="s",
        response_id="r",
        prompt_id="t",
        task="LLM response verification",
        claim="A.",
        label=1,
    )
    assert (second.id, second.claim, second.label) == ("r/2", "C.", 0)


def test_partial_support_is_no_support(tmp_path: Path) -> None:
    def claim(label: str) -> dict[str, object]:
        return {"id": label, "claim": "C", "evidence": ["a", "b"], "label": label, "supporting_sentences": []}

    labels = ("supported", "partially_supported", "not_supported")
    path = jsonl(tmp_path / "dev.jsonl", *map(claim, labels))
    claims = list(labelled_claims("wice", "dev", path))
    assert [(one.label, one.document) for one in claims] == [(1, "a\nb"), (0, "a\nb"), (0, "a\nb")]
    stances = ("completely-support", "partially-support", "refute", "irrelevant")
    path = jsonl(tmp_path / "s.jsonl", *({"claim": "C", "evidence": "e", "stance": stance} for stance in stances))
    assert [one.label for one in labelled_claims("factcheckgpt", "stance", path)] == [1, 0, 0, 0]


def test_triplets_are_claims(tmp_path: Path) -> None:
    labels = ("Entailment", "Neutral", "Contradiction")
    triplets = [{"triplet": ["Ada", "wrote", "it"], "human_label": label} for label in labels]
    path = tmp_path / "zero_context" / "nq_gpt4_answers.json"
    array(path, {"id": "7", "response": "Ada.", "claude2_response_kg": triplets})
    claims = list(labelled_claims("refchecker", "annotations", tmp_path))
    assert [(one.claim, one.label) for one in claims] == [("Ada wrote it", 1), ("Ada wrote it", 0), ("Ada wrote it", 0)]
    assert (claims[2].id, claims[2].prompt_id, claims[2].system) == ("zero_context/gpt4/7/2", "zero_context/7", "gpt4")


def test_a_benchmark_of_several_data_sets_names_each(tmp_path: Path) -> None:
    row = {"dataset": "Reveal", "doc": "D", "claim": "C", "label": 1, "contamination_identifier": ""}
    (claim,) = labelled_claims("llm-aggrefact", "dev", jsonl(tmp_path / "dev.jsonl", row))
    assert (claim.dataset, claim.document, claim.label, claim.task) == ("Reveal", "D", 1, None)


def test_prompts_hold_no_claims(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "longfact.jsonl", {"id": "1", "topic": "t", "prompt": "Why?"})
    with pytest.raises(ConfigError, match="a LongFactPrompt holds no labelled claim"):
        list(labelled_claims("longfact", "objects", path))
    with pytest.raises(ConfigError, match="a LabelledClaim holds no labelled claim"):
        list(claims_of(LabelledClaim(id="1", claim="C", label=1)))


@pytest.mark.parametrize(
    ("name", "part", "file", "labels"),
    [
        ("wice", "dev", "wice_dev.jsonl", {1: 115, 0: 234}),
        ("tofueval", "mediasum-dev", "tofueval_mediasum_dev.jsonl", {1: 1459, 0: 354}),
        ("factcheckgpt", "stance", "factcheckgpt_dev_stance.jsonl", {1: 341, 0: 1484}),
        ("expertqa", "claims", "expertqa_dev_claims.jsonl", {1: 782, 0: 293}),
        ("factscore", "bio", "factscore_bio.jsonl", {1: 10_088, 0: 4_415}),
    ],
)
def test_labels_of_the_labelled_data(name: str, part: str, file: str, labels: dict[int, int]) -> None:
    claims = list(labelled_claims(name, part, published(file)))
    assert Counter(claim.label for claim in claims) == labels
    assert len({claim.id for claim in claims}) == len(claims)
