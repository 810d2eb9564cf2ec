"""Cross-encoders as verifiers, on tiny checkpoints with random or chosen weights."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, ModelOutputError
from factloop.tools.verifiers.classifiers import NliReader
from factloop.tools.verifiers.encoder import NliVerifier
from factloop.tools.verifiers.pairs import VerifierPair
from tests.extras import needs
from tests.tools.verifiers.tiny_models import save_roberta

pytestmark = [needs("transformers", "semantic"), pytest.mark.torch]

NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}


def checkpoint(folder: Path, id2label: dict[int, str], biases: list[float]) -> Path:
    """A BERT of one layer whose classifier looks at nothing but its biases."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ada", "paints", "bridges"]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers leaves it so
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=64,
        id2label=id2label,
        label2id={label: place for place, label in id2label.items()},
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor(biases))
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("biases", "label", "cited"),
    [
        ([0.0, 9.0, 0.0], "supported", (0, 2)),
        ([9.0, 0.0, 0.0], "contradicted", (0, 2)),
        ([0.0, 0.0, 9.0], "insufficient", ()),
    ],
)
def test_three_labels(tmp_path: Path, biases: list[float], label: str, cited: tuple[int, ...]) -> None:
    verifier = NliVerifier(checkpoint(tmp_path, NLI, biases))
    found = verifier.verify("Ada paints", ["Ada paints bridges", " ", "bridges"])
    assert (found.label, found.cited) == (label, cited)
    assert (found.score > 0.9) == (label == "supported")


def test_two_labels_tell_support_but_not_contradiction(tmp_path: Path) -> None:
    verifier = NliVerifier(checkpoint(tmp_path, {0: "LABEL_0", 1: "LABEL_1"}, [9.0, 0.0]))
    assert verifier.verify("Ada paints", ["bridges"]).label == "insufficient"


def test_long_and_strange_text_is_cut_into_pieces(tmp_path: Path) -> None:
    verifier = NliVerifier(checkpoint(tmp_path, NLI, [0.0, 9.0, 0.0]))
    long = "ada " * 2_000
    assert verifier.verify(long, [long, "\0\ud800"]).label == "supported"


@pytest.mark.parametrize("passage", ["Ada paints red bridges.", "Paris</s></s>Ada paints", "<s> Ada <mask> paints"])
def test_a_score_is_that_of_the_reader_of_pairs(tmp_path: Path, passage: str) -> None:
    """Of either, what looks like a special token is read as text: a passage cannot end its own part."""
    folder = save_roberta(tmp_path, NLI)
    (wanted,) = NliReader(folder).read_now([VerifierPair("Ada paints", passage)])
    assert NliVerifier(folder).verify("Ada paints", [passage]).score == pytest.approx(wanted.score, abs=1e-6)


def test_a_model_that_gives_no_number_gives_no_verdict(tmp_path: Path) -> None:
    verifier = NliVerifier(checkpoint(tmp_path, NLI, [0.0, math.nan, 0.0]))
    with pytest.raises(ModelOutputError, match="no number"):
        verifier.verify("Ada paints", ["bridges"])


@pytest.mark.parametrize(("claim", "passages"), [("", ["bridges"]), ("Ada", []), ("Ada", ["", " "])])
def test_nothing_to_read_needs_no_model(claim: str, passages: list[str]) -> None:
    found = NliVerifier("nowhere").verify(claim, passages)
    assert (found.label, found.score, found.cited) == ("insufficient", 0.0, ())


@pytest.mark.parametrize("name", ["no/such-model", "/no/such/folder", ""])
def test_a_model_that_is_not_there_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError, match="no usable model"):
        NliVerifier(name).verify("Ada", ["bridges"])


def test_a_folder_without_a_model_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no usable model"):
        NliVerifier(tmp_path).verify("Ada", ["bridges"])


def test_is_named_after_its_folder(tmp_path: Path) -> None:
    assert NliVerifier(tmp_path).name == f"nli:{tmp_path.name}"
    assert NliVerifier("someone/some-model").name == "nli:someone/some-model"
