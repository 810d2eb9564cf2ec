"""Sequence classifiers as verifiers of pairs: any NLI encoder, and what the published ones have in common."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from factloop.tools.verifiers.labels import LabelPlaces
from factloop.tools.verifiers.local import LocalReader


class ClassifierReader(LocalReader):
    """The document as premise, the claim as hypothesis; the score is the probability of the label of support.

    The labels are told by name (`LabelPlaces`); two nameless ones are taken as 1 = supported.
    """

    def _load_model(self, local: bool) -> Any:
        from transformers import AutoModelForSequenceClassification

        return AutoModelForSequenceClassification.from_pretrained(self._path_or_name, local_files_only=local)

    def load(self) -> None:
        super().load()
        _ = self._support

    @cached_property
    def _support(self) -> int:
        """The place of the output for support. Raises ConfigError where the labels do not tell."""
        return LabelPlaces.of(self._loaded[1].config.id2label).support

    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        options = {"padding": True, "max_length": self._window, "return_tensors": "pt"}
        return tokenizer(documents, claims, truncation=True, **options)

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        return self._distribution(model, tensors)[:, self._support]

    @staticmethod
    def _distribution(model: Any, tensors: dict[str, Any]) -> Any:
        """P(label) of each pair: a tensor of shape (n_pairs, n_labels)."""
        return model(**tensors).logits.float().softmax(dim=-1)


class NliReader(ClassifierReader):
    """Any natural language inference model: P(entailment), the document as premise, in chunks as large as fit."""

    kind = "nli"
