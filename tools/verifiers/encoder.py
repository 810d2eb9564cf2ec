"""An NLI encoder as a verifier of claims: what it says of each passage, and one answer of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.classifiers import NliReader
from factloop.tools.verifiers.labels import LabelPlaces
from factloop.tools.verifiers.local import BATCH_SIZE

THRESHOLD = 0.5
MAX_CITED = 3


@dataclass(frozen=True)
class _Reading:
    """Probabilities of one passage as premise and the claim as hypothesis."""

    support: float
    contradict: float


class NliVerifier(NliReader):
    """Judges by a sequence-classification model in a folder, or one of the hub that was downloaded before.

    Each passage is a premise of its own. The claim is supported if some passage supports it with a probability of at
    least 0.5, contradicted if none does and some passage contradicts it with at least 0.5. `score` is the highest
    probability of support. Premises longer than the window are cut into overlapping pieces, the best of which counts.
    """

    def verify(
        self,
        claim: str,
        passages: Sequence[str],
        documents: Sequence[int] | None = None,  # noqa: ARG002 - each passage is a premise by itself
    ) -> SupportReading:
        """Verifies as `Verifier.verify`.

        Raises ConfigError where the model cannot be loaded or run, ModelOutputError where it gives no number.
        """
        readable = [index for index, passage in enumerate(passages) if passage.strip()]
        if not claim.strip() or not readable:
            return SupportReading("insufficient", 0.0, (), "no claim or no evidence to read")
        with self._lock:  # a fast tokenizer keeps its truncation settings as state
            read = self._readings(self._plain(claim), [self._plain(passages[index]) for index in readable])
        return _entailment(dict(zip(readable, read, strict=True)))

    def _readings(self, claim: str, passages: Sequence[str]) -> list[_Reading]:
        """The best reading of each passage over its pieces."""
        import torch

        tokenizer, model = self._loaded
        places = LabelPlaces.of(model.config.id2label)
        pieces = tokenizer(
            list(passages),
            [self._shortened(claim)] * len(passages),
            truncation="only_first",
            max_length=self._window,
            stride=self._window // 8,
            return_overflowing_tokens=True,
        )
        passage_of = pieces.pop("overflow_to_sample_mapping")
        best = [_Reading(0.0, 0.0)] * len(passages)
        for start in range(0, len(passage_of), BATCH_SIZE):
            batch = {name: values[start : start + BATCH_SIZE] for name, values in pieces.items()}
            with torch.inference_mode():
                rows = self._computed(self._distribution, tokenizer.pad(batch, return_tensors="pt"))
            for passage, row in zip(passage_of[start : start + BATCH_SIZE], rows, strict=True):
                if not all(map(math.isfinite, row)):
                    raise self._no_number(row)
                against = row[places.contradict] if places.contradict is not None else 0.0
                best[passage] = _Reading(
                    max(best[passage].support, row[places.support]), max(best[passage].contradict, against)
                )
        return best


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
