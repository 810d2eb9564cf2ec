"""AlignScore (Zha et al. 2023, arXiv 2305.16739): how far a claim is aligned with its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from factloop.core.errors import ConfigError
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.verifiers.classifiers import ClassifierReader

N_LABELS = 3
_ALIGNED = ("aligned", "entail", "support")
_ENCODER, _POOLER, _HEAD = "base_model.", "base_model.pooler.dense.", "tri_layer."


class AlignScore(ClassifierReader):
    """Mean over the claim's sentences of the highest P(aligned) over chunks of the context (section 3.2, equation 2).

    P(aligned) is that of the three-way head, output 0, as in the authors' default mode `nli_sp`
    (github.com/yuh-zha/AlignScore, `inference.py`): the chunk first, then the sentence, as a pair.

    The folder holds either a sequence classifier with three labels, or the published checkpoint (`*.ckpt`) beside the
    configuration and the tokenizer of the RoBERTa it was made from. Of a checkpoint only tensors are read: nothing in
    it is run. Its pooler and three-way head compute what the head of a RoBERTa classifier does, and become one.

    Departure: a context of n words is cut into chunks filled with whole sentences up to 350 words; the authors deal
    its sentences out to n // 350 + 1 chunks of equally many, whatever their length.
    """

    kind = "alignscore"
    n_words = 350

    def parts(self, claim: str) -> Sequence[str]:
        return [sentence.text for sentence in split_sentences(claim)] or (claim,)

    @cached_property
    def _support(self) -> int:
        id2label: Mapping[int, str] = self._loaded[1].config.id2label
        if len(id2label) != N_LABELS:
            raise ConfigError(f"{self.name}: three labels are needed, and it has {len(id2label)}")
        if all(name == f"LABEL_{place}" for place, name in id2label.items()):
            return 0
        named = [place for place, name in id2label.items() if name.lower().startswith(_ALIGNED)]
        if len(named) != 1:
            raise ConfigError(f"{self.name}: its labels do not tell which is 'aligned': {sorted(id2label.values())}")
        return named[0]

    def _load_model(self, local: bool) -> Any:
        checkpoints = sorted(Path(self._path_or_name).glob("*.ckpt")) if Path(self._path_or_name).is_dir() else []
        if not checkpoints:
            return super()._load_model(local)
        if len(checkpoints) > 1:
            raise ConfigError(f"{self._path_or_name}: holds {len(checkpoints)} checkpoints (*.ckpt); keep one")
        return _of_checkpoint(checkpoints[0])


def _of_checkpoint(path: Path) -> Any:
    """The published checkpoint as a RoBERTa classifier. Raises ConfigError where it is something else."""
    import pickle

    import torch
    from transformers import AutoConfig, RobertaForSequenceClassification

    config = AutoConfig.from_pretrained(path.parent, local_files_only=True)
    if config.model_type != "roberta":
        raise ConfigError(f"{path}: a RoBERTa is needed beside it, not a {config.model_type}")
    config.num_labels = N_LABELS
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        weights = {new: tensor for old, tensor in found["state_dict"].items() if (new := _renamed(old)) is not None}
        model = RobertaForSequenceClassification(config)
        model.load_state_dict(weights)
    except (pickle.UnpicklingError, RuntimeError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise ConfigError(f"{path}: is not a checkpoint of AlignScore for the configuration beside it") from error
    return model


def _renamed(name: str) -> str | None:
    """The place of a weight in a RoBERTa classifier; None for heads that are not used."""
    if name.startswith(_POOLER):
        return f"classifier.dense.{name.removeprefix(_POOLER)}"
    if name.startswith(_HEAD):
        return f"classifier.out_proj.{name.removeprefix(_HEAD)}"
    if name.startswith(_ENCODER) and not name.endswith("position_ids"):  # a buffer in older versions, not a weight
        return f"roberta.{name.removeprefix(_ENCODER)}"
    return None
