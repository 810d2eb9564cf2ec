"""BERTScore (Zhang et al. 2020, section 3), by bert-score's arithmetic over a model of the user's choice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.evaluation.mixedqa.reference.base import LONGEST, Scores, Texts, check_lengths
from factloop.tools.model_files import encodable, loading_model, short_name

BATCH_SIZE = 32


class BertScore:
    """F1 of greedy cosine matching between the tokens of candidate and reference, in [-1, 1] and in practice above 0.

    Recall: each token of the reference with its likest in the candidate, on average; precision the other way round; F1
    their harmonic mean (equations of section 3). Without idf weights and without the rescaling by a baseline, so values
    lie close together. Of several references the one that matches best counts, as in bert-score. Texts are cut to what
    the model reads. 0.0 for a blank candidate; None where every reference is blank.

    Departure from bert-score: the model is never a default of the hub. The layer has to be chosen with it (17 for
    roberta-large, 9 for bert-base-uncased: section 4 of the paper's code), and is the last where none is given.
    """

    def __init__(
        self, path_or_name: str | Path, *, layer: int | None = None, allow_download: bool = False, device: str = "cpu"
    ) -> None:
        self._path_or_name = str(path_or_name)
        self._layer = layer
        self._allow_download = allow_download
        self._device = device

    @property
    def name(self) -> str:
        return f"BERTScore ({short_name(self._path_or_name)})"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        """Scores as `ReferenceMetric.score`; raises ConfigError where the model cannot be loaded or lacks the layer."""
        check_lengths(candidates, references, questions, evidence)
        wanted = [[encodable(text.strip()) for text in group if text.strip()] for group in references]
        pairs = [
            (place, encodable(candidate.strip()), reference)
            for place, candidate in enumerate(candidates)
            if candidate.strip()
            for reference in wanted[place]
        ]
        best: Scores = [0.0 if group else None for group in wanted]
        found: dict[int, float] = {}
        for (place, _, _), value in zip(pairs, self._f1(pairs), strict=True):
            found[place] = max(value, found.get(place, value))
        return [found.get(place, value) for place, value in enumerate(best)]

    def _f1(self, pairs: Sequence[tuple[int, str, str]]) -> list[float]:
        if not pairs:
            return []
        matched = _arithmetic()
        tokenizer, model = self._loaded
        weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
        weights.update({tokenizer.sep_token_id: 0.0, tokenizer.cls_token_id: 0.0})
        table = matched(
            model,
            [reference for _, _, reference in pairs],
            [candidate for _, candidate, _ in pairs],
            tokenizer,
            weights,
            device=self._device,
            batch_size=BATCH_SIZE,
        )
        return [float(value) for value in table[:, 2]]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        local = not self._allow_download
        with loading_model(self._path_or_name, extra="metrics"):
            from transformers import AutoModel, AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(self._path_or_name, local_files_only=local)
            model = AutoModel.from_pretrained(self._path_or_name, local_files_only=local)
        tokenizer.model_max_length = min(tokenizer.model_max_length, _reads(model))  # may be 10**30: not stated
        return tokenizer, _Layer(_encoder(model).to(self._device).eval(), self._checked_layer(model))

    def _checked_layer(self, model: Any) -> int:
        n_layers = int(model.config.num_hidden_layers)
        layer = n_layers if self._layer is None else self._layer
        if not 0 <= layer <= n_layers:
            raise ConfigError(f"{self._path_or_name!r} has {n_layers} layers, so there is no layer {layer}")
        return layer


def _arithmetic() -> Any:
    require("metrics", "BERTScore")
    from bert_score.utils import bert_cos_score_idf  # type: ignore[import-untyped]  # has no type hints

    return bert_cos_score_idf


@dataclass(frozen=True)
class _Layer:
    """A model that gives the states of one layer first, which is where bert-score looks."""

    model: Any
    layer: int

    def __call__(self, tokens: Any, *, attention_mask: Any, output_hidden_states: bool) -> tuple[Any]:  # noqa: ARG002
        states = self.model(tokens, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        return (states[self.layer],)

    def parameters(self) -> Any:
        """bert-score asks them for their device."""
        return self.model.parameters()

    def eval(self) -> None:
        """bert-score asks for it before each batch; the model is so from the start."""


def _encoder(model: Any) -> Any:
    """The encoder alone of a model that has a decoder, too."""
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _reads(model: Any) -> int:
    """Tokens; two less than its positions, as RoBERTa counts them from two."""
    return min(LONGEST, int(getattr(model.config, "max_position_embeddings", LONGEST + 2)) - 2)
