"""MiniCheck (Tang, Laban and Durrett 2024, arXiv 2404.10774): Flan-T5, and RoBERTa or DeBERTa.

The formats of the input, the sizes of the chunks and the outputs that are read are those of the authors' package
(github.com/Liyan06/MiniCheck, `minicheck/inference.py` and `minicheck.py`) for the weights `lytang/MiniCheck-*`. Paper,
section 4: the document is cut into chunks, and the highest probability of support counts.

Departures: sentences are found by our own rules and not by nltk's; a sentence longer than a chunk is cut, and the
package leaves it to truncation, which takes the claim away first.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from factloop.core.errors import ConfigError
from factloop.tools.verifiers.classifiers import ClassifierReader
from factloop.tools.verifiers.local import LocalReader

PREFIX = "predict: "


class MiniCheckRoberta(ClassifierReader):
    """`document </s> claim` as one text, two labels, P(label 1). Chunks of 400 tokens, as published.

    The DeBERTa weights read the same way, with their own separator.
    """

    kind = "minicheck-roberta"
    n_tokens = 400

    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        return _joined(tokenizer, claims, documents, "", self._window)


class MiniCheckFlanT5(LocalReader):
    """`predict: document </s> claim` into the encoder; one step of the decoder says "1" (supported) or "0".

    The score is P("1") over P("0") + P("1") at that step: of Flan-T5's tokens 209 and 3, which are the first that its
    tokenizer makes of "1" and of "0". Chunks of 500 words, as published, in a window of 2,048 tokens.
    """

    kind = "minicheck-flan-t5"
    longest = 2048
    n_words = 500

    def _load_model(self, local: bool) -> Any:
        from transformers import AutoModelForSeq2SeqLM

        return AutoModelForSeq2SeqLM.from_pretrained(self._path_or_name, local_files_only=local)

    def load(self) -> None:
        super().load()
        _ = self._answers

    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        return _joined(tokenizer, claims, documents, PREFIX, self._window)

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        import torch

        start = model.config.decoder_start_token_id or model.config.pad_token_id
        first = torch.full((len(tensors["input_ids"]), 1), start, device=tensors["input_ids"].device)
        logits = model(
            input_ids=tensors["input_ids"], attention_mask=tensors["attention_mask"], decoder_input_ids=first
        ).logits
        return logits[:, 0, list(self._answers)].float().softmax(dim=-1)[:, 1]

    @cached_property
    def _answers(self) -> tuple[int, int]:
        """The tokens of "0" and "1". Raises ConfigError where the tokenizer does not tell them apart."""
        tokenizer = self._loaded[0]
        no, yes = (tokenizer(answer, add_special_tokens=False)["input_ids"][:1] for answer in ("0", "1"))
        if not no or not yes or no == yes:
            raise ConfigError(f"{self.name}: its tokenizer does not tell 0 from 1")
        return no[0], yes[0]


def _joined(tokenizer: Any, claims: list[str], documents: list[str], prefix: str, window: int) -> Any:
    """Both as one text, with the token between them that ends a text."""
    texts = [
        f"{prefix}{document}{tokenizer.eos_token}{claim}" for document, claim in zip(documents, claims, strict=True)
    ]
    return tokenizer(texts, truncation=True, padding=True, max_length=window, return_tensors="pt")
