from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.mixedqa.reference import (
    INSTRUCTIONS,
    AnswerContext,
    ReferenceMetric,
    bart_score,
    bert_score,
    gpt_score,
)
from tests.extras import needs

pytestmark = [needs("bert_score", "metrics"), pytest.mark.torch]

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ada", "paints", "bridges", "red", "in", "paris", "who", "?"]
ANSWERS = ["Ada paints", "red", "bridges in Paris red red", "Ada"]
REFERENCES = [["Ada paints bridges", "Ada"], ["red"], ["Ada paints in Paris"], ["who ?", "bridges"]]
QUESTIONS = ["who paints?", "red?", "who in Paris?", "Ada?"]
EVIDENCE = ["Ada paints red bridges in Paris", "bridges", "red", "Paris"]


def tokenizer(folder: Path, *, longest: int | None = None) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    limit = {} if longest is None else {"model_max_length": longest}
    found = PreTrainedTokenizerFast(tokenizer_object=words, **names, **limit)  # type: ignore[no-untyped-call]
    found.save_pretrained(folder)
    return found


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny-bert")
    tokenizer(folder)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=len(WORDS), max_position_embeddings=32, **sizes)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    folder = tmp_path_factory.mktemp("tiny-bart")
    tokenizer(folder)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        f"{side}_{part}": 2 for side in ("encoder", "decoder") for part in ("layers", "attention_heads")
    }
    sizes |= {"encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "d_model": 8, "max_position_embeddings": 32}
    special: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 3}
    config = BartConfig(vocab_size=len(WORDS), init_std=1.0, forced_eos_token_id=None, **special, **sizes)
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("tiny-gpt")
    tokenizer(folder)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=64, n_embd=8, n_layer=2, n_head=2, initializer_range=1.0,
        bos_token_id=2, eos_token_id=3,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def loaded(kind: Any, folder: Path) -> Any:
    return kind.from_pretrained(folder).eval()


def all_metrics(bert: Path, bart: Path, gpt: Path) -> list[ReferenceMetric]:
    return [
        bert_score(bert),
        *(bart_score(bart, given) for given in AnswerContext),
        *(gpt_score(folder, given) for folder in (bart, gpt) for given in AnswerContext),
    ]


def score(metric: ReferenceMetric, places: Sequence[int]) -> list[float | None]:
    columns = (ANSWERS, REFERENCES, QUESTIONS, EVIDENCE)
    answers, references, questions, evidence = ([column[place] for place in places] for column in columns)
    return metric.score(answers, references, questions, evidence)  # type: ignore[arg-type]


@pytest.mark.parametrize("layer", [1, 3])
def test_bert_score_as_bert_score_has_it(bert: Path, tmp_path: Path, layer: int) -> None:
    """bert_score cannot read a tokenizer that does not state its maximum length, so this one does."""
    from bert_score import score as their_score  # type: ignore[import-untyped]  # has no type hints
    from transformers import AutoModel

    tokenizer(tmp_path, longest=32)
    AutoModel.from_pretrained(bert).save_pretrained(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        *_, theirs = their_score(
            [answer.strip() for answer in ANSWERS],
            REFERENCES,
            model_type=str(tmp_path),
            num_layers=layer,
            device="cpu",
            use_fast_tokenizer=True,
        )
    assert bert_score(bert, layer=layer).score(ANSWERS, REFERENCES) == pytest.approx(theirs.tolist(), abs=1e-5)


def test_bart_score_is_the_models_own_loss(bart: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM

    words, model = tokenizer(bart), loaded(AutoModelForSeq2SeqLM, bart)
    for place, found in enumerate(score(bart_score(bart, AnswerContext.QUESTION), range(4))):
        inputs = words(QUESTIONS[place], return_tensors="pt")
        labels = words(ANSWERS[place], return_tensors="pt")["input_ids"]
        loss = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels).loss
        assert found == pytest.approx(-loss.item(), abs=1e-5)


def test_gpt_score_of_a_decoder_counts_the_answer_alone(gpt: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    words, model = tokenizer(gpt), loaded(AutoModelForCausalLM, gpt)
    for place, found in enumerate(score(gpt_score(gpt, AnswerContext.EVIDENCE), range(4))):
        text = words(f"{INSTRUCTIONS[AnswerContext.EVIDENCE]}\n{EVIDENCE[place]}\n")["input_ids"]
        answer = words(ANSWERS[place], add_special_tokens=False)["input_ids"]
        loss = model(torch.tensor([text + answer]), labels=torch.tensor([[-100] * len(text) + answer])).loss
        assert found == pytest.approx(-loss.item(), abs=1e-5)


def test_each_variant_reads_its_own_text(bart: Path) -> None:
    reference, question, evidence = (bart_score(bart, given) for given in AnswerContext)
    by_question = question.score(["Ada"], [[]], ["red"])
    assert reference.score(["Ada"], [["red", "blue"]]) == evidence.score(["Ada"], [[]], None, ["red"]) == by_question
    assert gpt_score(bart, AnswerContext.QUESTION, instruction="").score(["Ada"], [[]], ["red"]) == by_question
    assert gpt_score(bart, AnswerContext.QUESTION).score(["Ada"], [[]], ["red"]) != by_question


def test_nothing_to_compare_with_is_no_score_and_needs_no_model() -> None:
    for given in AnswerContext:
        metric = bart_score("nowhere", given)
        assert metric.score(["Ada", " "], [[], ["x"]], [None, "x"], [" ", "x"]) == [None, None]
        assert metric.score(["Ada"], [[]]) == [None]
    assert bert_score("nowhere").score(["Ada", ""], [["", " "], ["x"]]) == [None, 0.0]


def test_long_and_strange_text_is_cut(bert: Path, bart: Path, gpt: Path) -> None:
    long = "ada paints " * 400
    for metric in all_metrics(bert, bart, gpt):
        (found,) = metric.score([long + "\ud800"], [[long]], [long], [long])
        assert found is not None


@pytest.mark.parametrize("name", ["no/such-model", "/no/such/folder"])
def test_a_model_that_is_not_there_is_a_config_error(name: str) -> None:
    for metric in (bert_score(name), bart_score(name, AnswerContext.REFERENCE)):
        with pytest.raises(ConfigError, match="cannot load a model"):
            metric.score(["Ada"], [["red"]])
