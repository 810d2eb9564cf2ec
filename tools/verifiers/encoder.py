"""Verifiers that are cross-encoders of the Hugging Face format: NLI with three labels, or binary like MiniCheck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from factloop.core.errors import ConfigError
from factloop.tools.model_files import encodable, loading_model, short_name
from factloop.tools.verifiers.base import SupportReading

THRESHOLD = 0.5
MAX_CITED = 3
BATCH_SIZE = 16

_SUPPORT = ("entail", "support", "consistent", "faithful", "factual")
_AGAINST = ("contradict", "refut")


@dataclass(frozen=True)
class LabelPlaces:
    """Places of a model's outputs that speak for the claim and, where it tells, against it."""

    support: int
    contradict: int | None

    @classmethod
    def of(cls, id2label: Mapping[int, str]) -> LabelPlaces:
        """Reads the names of the labels; two nameless labels (LABEL_0, LABEL_1) are taken as 1 = supported.

        Raises ConfigError where the names do not say which label is support.
        """
        names = {place: label.lower().replace("-", "_").replace(" ", "_") for place, label in id2label.items()}
        support = [place for place, name in names.items() if name.startswith(_SUPPORT)]
        against = [place for place, name in names.items() if name.startswith(_AGAINST)]
        if not support and names == {0: "label_0", 1: "label_1"}:
            support = [1]
        if len(support) != 1 or len(against) > 1:
            raise ConfigError(f"the labels of the encoder do not tell which one is support: {sorted(names.values())}")
        return cls(support[0], against[0] if against else None)


@dataclass(frozen=True)
class _Reading:
    """Probabilities of one passage as premise and the claim as hypothesis."""

    support: float
    contradict: float


class NliVerifier:
    """Judges by a sequence-classification model in a folder, or one of the hub that was downloaded before.

    Each passage is a premise of its own. The claim is supported if some passage supports it with a probability of at
    least 0.5, contradicted if none does and some passage contradicts it with at least 0.5. `score` is the highest
    probability of support. Premises longer than the model reads are cut into overlapping pieces, the best of which
    counts.

    Holds torch to one thread. Safe to share between threads. `allow_download` lets a hub name go to the network.
    """

    def __init__(
        self, path_or_name: str | Path, *, allow_download: bool = False, device: str = "cpu", max_tokens: int = 512
    ) -> None:
        self._path_or_name = str(path_or_name)
        self._allow_download = allow_download
        self._device = device
        self._max_tokens = max_tokens
        self._lock = Lock()

    @property
    def name(self) -> str:
        return f"nli:{short_name(self._path_or_name)}"

    def load(self) -> None:
        """Loads the model now, and not at the first claim. Raises ConfigError."""
        with self._lock:
            _ = self._loaded

    def verify(self, claim: str, passages: Sequence[str]) -> SupportReading:
        """Verifies as `Verifier.verify`; raises ConfigError where the model cannot be loaded."""
        readable = [index for index, passage in enumerate(passages) if passage.strip()]
        if not claim.strip() or not readable:
            return SupportReading("insufficient", 0.0, (), "no claim or no evidence to read")
        with self._lock:  # a fast tokenizer keeps its truncation settings as state
            read = self._read(encodable(claim), [encodable(passages[index]) for index in readable])
        return _entailment(dict(zip(readable, read, strict=True)))

    def _read(self, claim: str, passages: Sequence[str]) -> list[_Reading]:
        """The best reading of each passage over its pieces."""
        import torch

        tokenizer, model, places = self._loaded
        pieces = tokenizer(
            list(passages),
            [self._shortened(claim)] * len(passages),
            truncation="only_first",
            max_length=self._max_tokens,
            stride=self._max_tokens // 8,
            return_overflowing_tokens=True,
        )
        passage_of = pieces.pop("overflow_to_sample_mapping")
        best = [_Reading(0.0, 0.0)] * len(passages)
        for start in range(0, len(passage_of), BATCH_SIZE):
            batch = {name: values[start : start + BATCH_SIZE] for name, values in pieces.items()}
            tensors = tokenizer.pad(batch, return_tensors="pt").to(self._device)
            with torch.inference_mode():
                probabilities = model(**tensors).logits.float().softmax(dim=-1).tolist()
            for passage, row in zip(passage_of[start : start + BATCH_SIZE], probabilities, strict=True):
                against = row[places.contradict] if places.contradict is not None else 0.0
                best[passage] = _Reading(
                    max(best[passage].support, row[places.support]), max(best[passage].contradict, against)
                )
        return best

    def _shortened(self, claim: str) -> str:
        """The claim as far as it fits into half of what the model reads."""
        tokenizer = self._loaded[0]
        ends = tokenizer(claim, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        limit = self._max_tokens // 2
        return claim if len(ends) <= limit else claim[: ends[limit - 1][1]]

    @cached_property
    def _loaded(self) -> tuple[Any, Any, LabelPlaces]:
        local = not self._allow_download
        with loading_model(self._path_or_name):
            from transformers import AutoModelForSequenceClassification, AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(self._path_or_name, local_files_only=local)
            model = AutoModelForSequenceClassification.from_pretrained(self._path_or_name, local_files_only=local)
        return tokenizer, model.to(self._device).eval(), LabelPlaces.of(model.config.id2label)


def _entailment(readings: Mapping[int, _Reading]) -> SupportReading:
    """Makes one answer from the readings of the passages, by their index."""
    supporting = sorted(readings, key=lambda index: -readings[index].support)
    score = readings[supporting[0]].support
    if score >= THRESHOLD:
        cited = [index for index in supporting if readings[index].support >= THRESHOLD]
        return SupportReading("supported", score, tuple(cited[:MAX_CITED]), f"entailed with probability {score:.2f}")
    against = sorted(readings, key=lambda index: -readings[index].contradict)
    refuted = readings[against[0]].contradict
    if refuted >= THRESHOLD:
        cited = [index for index in against if readings[index].contradict >= THRESHOLD]
        return SupportReading(
            "contradicted", score, tuple(cited[:MAX_CITED]), f"contradicted with probability {refuted:.2f}"
        )
    return SupportReading("insufficient", score, (), f"entailed with probability {score:.2f} at most")
