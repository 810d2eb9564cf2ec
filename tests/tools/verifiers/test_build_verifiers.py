"""Verifiers by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.verifiers.build import LOCAL, CallingKind, VerifierSpec, build_verifier, parse_spec
from factloop.tools.verifiers.lexical import LexicalVerifier
from factloop.tools.verifiers.pairs import PairReader, VerifierPair, score_pairs


def no_gateway(kind: CallingKind, model: str) -> ModelGateway:
    raise AssertionError(f"{kind}:{model} was not asked for")


def built(text: str) -> PairReader:
    return build_verifier(parse_spec(text), open_gateway=no_gateway, prompts=PromptRegistry.load())


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("lexical", VerifierSpec("lexical", "")),
        ("nli:/a/b:c", VerifierSpec("nli", "/a/b:c")),
        ("llm:openai:gpt-4o-mini", VerifierSpec("llm", "openai:gpt-4o-mini")),
        (" bespoke:bespoke-minicheck:7b ", VerifierSpec("bespoke", "bespoke-minicheck:7b")),
    ],
)
def test_names_are_read(text: str, spec: VerifierSpec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize("text", ["", "lexical:x", "nli", "nli:", "nli: ", "gpt-4o-mini", "minicheck:/x", "LEXICAL"])
def test_a_name_that_is_none(text: str) -> None:
    with pytest.raises(ConfigError, match=r"there is no verifier .*; there are lexical, nli:PATH"):
        parse_spec(text)


@pytest.mark.torch
@pytest.mark.parametrize("kind", LOCAL)
def test_weights_are_read_when_they_are_needed(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra `semantic` is not installed")
    reader = built(f"{kind}:{tmp_path}")
    assert reader.name == f"{kind}:{tmp_path.name}"
    with pytest.raises(ConfigError, match="no usable model"):
        _ = reader.identity


async def test_the_lexical_baseline_reads_whole_documents() -> None:
    document = "Ada Lovelace was born in London. " * 20 + "She died in 1852."
    pair = VerifierPair("Ada Lovelace died in 1852.", document)
    reader = built("lexical")
    whole, cut = await score_pairs(reader, [pair], (None, 6), meter=UsageMeter())
    assert whole[0].score == LexicalVerifier().verify(pair.claim, [document]).score
    assert cut[0].score is not None
    assert whole[0].score is not None
    assert cut[0].score < whole[0].score  # no chunk of six words holds both the name and the year
