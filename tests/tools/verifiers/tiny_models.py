"""Checkpoints of one layer over a dozen words, made on the spot with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = [
    "<s>", "<pad>", "</s>", "<unk>", "ada", "paints", "bridges", "red", "in", "paris", ".", "predict", ":", "0", "1",
    "not", "who",
]  # fmt: skip
SIZES: dict[str, Any] = {
    "vocab_size": len(WORDS), "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 8, "initializer_range": 1.5,
}  # fmt: skip
LABELS_3 = {place: f"LABEL_{place}" for place in range(3)}


def save_tokenizer(folder: Path) -> Any:
    """`<s> a </s>`, and for a pair `<s> a </s> </s> b </s>`, as RoBERTa has it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "cls_token": "<s>"}
    found = PreTrainedTokenizerFast(tokenizer_object=words, **names, sep_token="</s>")  # type: ignore[no-untyped-call]
    found.save_pretrained(folder)
    return found


def save_roberta(
    folder: Path, id2label: dict[int, str], *, positions: int = 66, seed: int = 0, tokenizer: bool = True
) -> Path:
    """A sequence classifier that reads `positions` - 2 tokens."""
    import torch
    from transformers import RobertaForSequenceClassification

    torch.manual_seed(seed)
    model = RobertaForSequenceClassification(roberta_config(positions=positions, id2label=id2label))
    model.save_pretrained(folder)
    if tokenizer:
        save_tokenizer(folder)
    return folder


def roberta_config(*, positions: int = 66, **more: Any) -> Any:
    from transformers import RobertaConfig

    labels = more.get("id2label")
    if labels is not None:
        more["label2id"] = {label: place for place, label in labels.items()}
    return RobertaConfig(
        max_position_embeddings=positions, pad_token_id=1, bos_token_id=0, eos_token_id=2, **SIZES, **more
    )


def save_t5(folder: Path) -> Path:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(1)
    more: dict[str, Any] = {
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 1,
        "initializer_factor": 2.0,
    }
    config = T5Config(vocab_size=len(WORDS), d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, **more)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    save_tokenizer(folder)
    return folder
