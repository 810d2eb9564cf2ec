"""Judges based on Flan-T5. MiniCheck is scored by the first output word, and HHEM by the first token."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from factloop.core.errors import ConfigError
from factloop.tools.judges.hub import LocalFiles
from factloop.tools.judges.local import LocalJudge


class MiniCheckT5(LocalJudge):
    """MiniCheck (Tang, Laban and Durrett 2024, arXiv 2404.10774) on Flan-T5-Large.

    The encoder reads `predict: document </s> claim`, and the first decoder step says "1" (supported) or "0". The score
    is P("1") / (P("0") + P("1")) at that step, where each digit is represented by the first token that Flan-T5's
    tokenizer produces for it (209 for "1", 3 for "0"). Chunks contain 500 words in a window of 2,048 tokens, and the
    best chunk counts, as in the authors' package (github.com/Liyan06/MiniCheck, `minicheck/inference.py`).

    Departures: sentences are not split with NLTK. A sentence longer than a chunk is cut, whereas the package truncates
    the input and loses the claim first.
    """

    kind = "minicheck"
    longest = 2048
    n_words = 500
    auto_class = "AutoModelForSeq2SeqLM"

    def load(self) -> None:
        super().load()
        _ = self._answers

    def _form(self, document: str, claim: str) -> str:
        return f"predict: {document}{self._loaded[0].eos_token}{claim}"

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        import torch

        ids = tensors["input_ids"]
        start = model.config.decoder_start_token_id
        first = torch.full((len(ids), 1), model.config.pad_token_id if start is None else start, device=ids.device)
        logits = model(input_ids=ids, attention_mask=tensors["attention_mask"], decoder_input_ids=first).logits
        return logits[:, 0, list(self._answers)].float().softmax(dim=-1)[:, 1:]

    @cached_property
    def _answers(self) -> tuple[int, int]:
        """Raises ConfigError if the tokenizer does not distinguish "0" and "1"."""
        tokenizer = self._loaded[0]
        no, yes = (tokenizer(answer, add_special_tokens=False)["input_ids"][:1] for answer in ("0", "1"))
        if not no or not yes or no == yes:
            raise ConfigError(f"{self.name}: the tokenizer must have different tokens for 0 and 1")
        return no[0], yes[0]


class Hhem(LocalJudge):
    """Vectara's HHEM-2.1-Open: the encoder of Flan-T5-Base with a classification head on the first token.

    The input follows the model card (huggingface.co/vectara/hallucination_evaluation_model). It starts with `<pad>`,
    and the score is the output for class 1 ("consistent") at that token. The published code is not run: the weights are
    loaded into transformers' `T5ForTokenClassification`. A user's folder must contain the weights, and the
    configuration and tokenizer of google/flan-t5-base, which may replace the published `config.json` or be in a
    `flan-t5-base` subfolder.
    """

    kind = "hhem"
    longest = 2048

    def _form(self, document: str, claim: str) -> str:
        pad = self._loaded[0].pad_token
        asked = "Determine if the hypothesis is true given the premise?"
        return f"{pad} {asked}\n\nPremise: {document}\n\nHypothesis: {claim}"

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        logits = model(input_ids=tensors["input_ids"], attention_mask=tensors["attention_mask"]).logits
        return logits[:, 0, :].float().softmax(dim=-1)[:, 1:2]

    def _load_model(self, files: LocalFiles) -> Any:
        from safetensors.torch import load_file
        from transformers import T5Config, T5ForTokenClassification

        config = T5Config.from_pretrained(files.base or files.folder, local_files_only=True)
        if config.model_type != "t5":
            raise ConfigError(f"{self.name}: put the configuration of google/flan-t5-base next to the weights")
        config.num_labels = 2
        model = T5ForTokenClassification(config)
        weights = {name.removeprefix("t5."): one for name, one in load_file(files.folder / "model.safetensors").items()}
        missing, unknown = model.load_state_dict(weights, strict=False)
        if unknown or any(not name.endswith("embed_tokens.weight") for name in missing):
            raise ConfigError(f"{self.name}: the folder must contain the weights of HHEM-2.1-Open")
        model.tie_weights()
        return model
