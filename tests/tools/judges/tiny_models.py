from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

WORDS = [
    "<s>", "<pad>", "</s>", "<unk>", "ada", "paints", "bridges", "red", "in", "paris", ".", "predict", ":", "0", "1",
    "not", "who", "yes", "no",
]  # fmt: skip
SIZES: dict[str, Any] = {
    "vocab_size": len(WORDS), "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
    "intermediate_size": 8, "initializer_range": 1.0,
}  # fmt: skip
LABELS_3 = {place: f"LABEL_{place}" for place in range(3)}


def save_tokenizer(folder: Path, more: str = "") -> Any:
    """RoBERTa's format: `<s> a </s>`, or `<s> a </s> </s> b </s>` for a pair. Also knows the words of `more`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    known = dict.fromkeys([*WORDS, *more.lower().split()])
    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(known)}, unk_token="<unk>"))
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "cls_token": "<s>"}
    found = PreTrainedTokenizerFast(tokenizer_object=words, **names, sep_token="</s>")  # type: ignore[no-untyped-call]
    found.save_pretrained(folder)
    return found


def save_roberta(folder: Path, id2label: dict[int, str], *, positions: int = 66, seed: int = 0) -> Path:
    """A sequence classifier that reads `positions` - 2 tokens."""
    import torch
    from transformers import RobertaForSequenceClassification

    torch.manual_seed(seed)
    model = RobertaForSequenceClassification(roberta_config(positions=positions, id2label=id2label))
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def save_biased(folder: Path, id2label: dict[int, str], biases: Sequence[float]) -> Path:
    """A sequence classifier whose output depends only on its biases."""
    import torch
    from safetensors.torch import load_file, save_file

    path = save_roberta(folder, id2label) / "model.safetensors"
    weights = load_file(path)
    weights["classifier.out_proj.weight"].zero_()
    weights["classifier.out_proj.bias"] = torch.tensor(biases)
    save_file(weights, path, metadata={"format": "pt"})
    return folder


def roberta_config(*, positions: int = 66, **more: Any) -> Any:
    from transformers import RobertaConfig

    labels = more.get("id2label")
    if labels is not None:
        more["label2id"] = {label: place for place, label in labels.items()}
    return RobertaConfig(
        max_position_embeddings=positions, pad_token_id=1, bos_token_id=0, eos_token_id=2, **SIZES, **more
    )


def t5_config(**more: Any) -> Any:
    from transformers import T5Config

    more |= {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "initializer_factor": 2.0}
    return T5Config(vocab_size=len(WORDS), d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, **more)


def save_t5(folder: Path) -> Path:
    import torch
    from transformers import T5ForConditionalGeneration

    torch.manual_seed(1)
    T5ForConditionalGeneration(t5_config()).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def save_hhem(folder: Path) -> Path:
    """Vectara's format: weights under `t5.`, a configuration that transformers does not know, no tokenizer."""
    import json

    import torch
    from safetensors.torch import save_file
    from transformers import T5ForTokenClassification

    torch.manual_seed(20)  # with others the first token attends to itself alone, whatever is said
    model = T5ForTokenClassification(t5_config(num_labels=2))
    for weights, factor in ((model.transformer.shared, 0.05), (model.classifier, 0.2)):
        weights.weight.data.mul_(factor)  # else the first token's own vector is all that counts, and says 0
    published = {
        f"t5.{name}": tensor.clone() for name, tensor in model.state_dict().items() if "embed_tokens" not in name
    }
    folder.mkdir(exist_ok=True)
    save_file(published, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "HHEMv2", "foundation": "google/flan-t5-base"}))
    base = folder / "flan-t5-base"
    t5_config().save_pretrained(base)
    save_tokenizer(base)
    return folder


def save_modernbert(folder: Path) -> Path:
    import torch
    from transformers import ModernBertConfig, ModernBertForTokenClassification

    torch.manual_seed(4)
    more: dict[str, Any] = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "cls_token_id": 0}
    more |= {"sep_token_id": 2, "num_labels": 2, "max_position_embeddings": 128}
    config = ModernBertConfig(**SIZES, **more)
    ModernBertForTokenClassification(config).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def save_deberta(folder: Path) -> Path:
    """A sequence classifier with DeBERTa-v3's relative positions, as FactCG is."""
    import torch
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    torch.manual_seed(8)
    more: dict[str, Any] = {"pad_token_id": 1, "num_labels": 2, "relative_attention": True, "position_buckets": 8}
    more |= {"pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "type_vocab_size": 0}
    more["vocab_size"] = len(save_tokenizer(folder, "choose your answer based on the paragraph above can we conclude"))
    DebertaV2ForSequenceClassification(DebertaV2Config(**{**SIZES, **more})).save_pretrained(folder)
    return folder


GRANITE = (
    "{% if messages[-2].role != 'context' or guardian_config['risk_name'] != 'groundedness' %}"
    "{{ raise_exception('no such risk') }}{% endif %}"
    "who : {{ messages[-2].content }} not : {{ messages[-1].content }} . {% if add_generation_prompt %}</s>{% endif %}"
)
"""In the shape of Granite Guardian's: roles `context` and `assistant`, and the risk that is asked for."""
BESPOKE = "{% for one in messages %}{{ one.role }} : {{ one.content }} </s> {% endfor %}"


def save_causal(folder: Path, template: str) -> Path:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(6)
    more: dict[str, Any] = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "max_position_embeddings": 512}
    LlamaForCausalLM(LlamaConfig(**SIZES, **more)).save_pretrained(folder)
    tokenizer = save_tokenizer(folder)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder
