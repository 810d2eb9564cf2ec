"""BARTScore (Yuan et al. 2021) and GPTScore (Fu et al. 2023): how likely a language model finds an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from factloop.evaluation.mixedqa.reference.base import LONGEST, Scores, Texts, check_lengths
from factloop.tools.model_files import encodable, loading_model, short_name

BATCH_SIZE = 8


class AnswerContext(StrEnum):
    """The text that the model reads before the answer, with the suffix that MixedQA's Table 1 gives it."""

    REFERENCE = "ref"
    """The first reference."""
    QUESTION = "src"
    EVIDENCE = "evid"


INSTRUCTIONS: Mapping[AnswerContext, str] = {
    AnswerContext.REFERENCE: "Say in other words what this answer says.",
    AnswerContext.QUESTION: "Answer this question.",
    AnswerContext.EVIDENCE: "State a fact that this text bears out.",
}
"""What GPTScore puts before the text. The papers do not print those of MixedQA's table, so its figures are near at
best."""


class LikelihoodScore:
    """Mean natural logarithm of the probability of the answer's tokens, given a text: at most 0, higher is better.

    `sum over t of log p(y_t | y_<t, x) / n` (Yuan et al., equation 2, and Fu et al., equation 1, equal weights). For an
    encoder-decoder x goes into the encoder and the tokens include those that the tokenizer puts around a text, as in
    BARTScore's code; for a decoder alone x comes before the answer and its tokens are not counted. Both are cut to what
    the model reads, x to half of it in a decoder. None for a blank answer and where the text is missing or blank.

    Use `bart_score` or `gpt_score`. Holds torch to one thread; `allow_download` lets a hub name go to the network.
    """

    def __init__(
        self,
        label: str,
        path_or_name: str | Path,
        given: AnswerContext,
        *,
        instruction: str = "",
        allow_download: bool = False,
        device: str = "cpu",
    ) -> None:
        self._label = label
        self._path_or_name = str(path_or_name)
        self._given = given
        self._instruction = instruction
        self._allow_download = allow_download
        self._device = device

    @property
    def name(self) -> str:
        return f"{self._label}-{self._given} ({short_name(self._path_or_name)})"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        """Scores as `ReferenceMetric.score`; raises ConfigError where the model cannot be loaded."""
        check_lengths(candidates, references, questions, evidence)
        given = self._texts(references, questions, evidence)
        found: Scores = [None] * len(candidates)
        places = [p for p, text in enumerate(given) if text and text.strip() and candidates[p].strip()]
        places.sort(key=lambda place: len(given[place] or "") + len(candidates[place]))  # alike lengths, little padding
        for start in range(0, len(places), BATCH_SIZE):
            batch = places[start : start + BATCH_SIZE]
            texts = [self._prompt(given[place] or "") for place in batch]
            for place, value in zip(batch, self._means(texts, [encodable(candidates[p]) for p in batch]), strict=True):
                found[place] = value
        return found

    def _texts(self, references: Sequence[Sequence[str]], questions: Texts | None, evidence: Texts | None) -> Texts:
        match self._given:
            case AnswerContext.REFERENCE:
                return [group[0] if group else None for group in references]
            case AnswerContext.QUESTION:
                return questions if questions is not None else [None] * len(references)
            case AnswerContext.EVIDENCE:
                return evidence if evidence is not None else [None] * len(references)

    def _prompt(self, text: str) -> str:
        return encodable(f"{self._instruction}\n{text}\n" if self._instruction else text)

    def _means(self, texts: Sequence[str], answers: Sequence[str]) -> Iterator[float | None]:
        import torch

        tokenizer, model = self._loaded
        encode = _for_both if model.config.is_encoder_decoder else _for_decoder
        inputs, labels = encode(tokenizer, texts, answers, _reads(model))
        if model.config.is_encoder_decoder:
            inputs["labels"] = labels
        with torch.inference_mode():
            logits = model(**{name: tensor.to(self._device) for name, tensor in inputs.items()}).logits.float().cpu()
        if not model.config.is_encoder_decoder:
            logits, labels = logits[:, :-1], labels[:, 1:]  # each place foretells the next token
        counted = labels != _IGNORED
        chosen = logits.log_softmax(dim=-1).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        for row, mask in zip(chosen, counted, strict=True):
            yield float(row[mask].mean()) if mask.any() else None

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        local = not self._allow_download
        with loading_model(self._path_or_name, extra="metrics"):
            from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

            config = AutoConfig.from_pretrained(self._path_or_name, local_files_only=local)
            kind: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
            tokenizer = AutoTokenizer.from_pretrained(self._path_or_name, local_files_only=local)
            model = kind.from_pretrained(self._path_or_name, local_files_only=local)
        return tokenizer, model.to(self._device).eval()


def bart_score(
    path_or_name: str | Path, given: AnswerContext, *, allow_download: bool = False, device: str = "cpu"
) -> LikelihoodScore:
    """p(answer | text) without a prompt; the paper's model is facebook/bart-large-cnn.

    With the reference as text this is the direction that Yuan et al. call precision.
    """
    return LikelihoodScore("BARTScore", path_or_name, given, allow_download=allow_download, device=device)


def gpt_score(
    path_or_name: str | Path,
    given: AnswerContext,
    *,
    instruction: str | None = None,
    allow_download: bool = False,
    device: str = "cpu",
) -> LikelihoodScore:
    """p(answer | instruction and text); MixedQA's table has google/flan-t5-base.

    `instruction`: that of `INSTRUCTIONS` where None is given.
    """
    words = INSTRUCTIONS[given] if instruction is None else instruction
    return LikelihoodScore(
        "GPTScore", path_or_name, given, instruction=words, allow_download=allow_download, device=device
    )


_IGNORED = -100
"""Labels of padding and of the text before the answer, as transformers marks them."""


def _for_both(tokenizer: Any, texts: Sequence[str], answers: Sequence[str], longest: int) -> tuple[dict[str, Any], Any]:
    options = {"truncation": True, "max_length": longest, "padding": True, "return_tensors": "pt"}
    inputs = tokenizer(list(texts), **options)
    targets = tokenizer(text_target=list(answers), **options)
    labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, _IGNORED)
    return {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"]}, labels


def _for_decoder(
    tokenizer: Any, texts: Sequence[str], answers: Sequence[str], longest: int
) -> tuple[dict[str, Any], Any]:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    before = tokenizer(list(texts), truncation=True, max_length=longest // 2)["input_ids"]
    after = tokenizer(list(answers), add_special_tokens=False)["input_ids"]
    rows = [torch.tensor((text + answer)[:longest]) for text, answer in zip(before, after, strict=True)]
    labels = pad_sequence(rows, batch_first=True, padding_value=_IGNORED)
    for row, text in zip(labels, before, strict=True):
        row[: len(text)] = _IGNORED
    tokens = pad_sequence(rows, batch_first=True, padding_value=0)  # any token: the mask hides it
    mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True, padding_value=0)
    return {"input_ids": tokens, "attention_mask": mask}, labels


def _reads(model: Any) -> int:
    """Tokens of a text; models without a limit of their own are held to `LONGEST`."""
    return min(LONGEST, int(getattr(model.config, "max_position_embeddings", None) or LONGEST))
