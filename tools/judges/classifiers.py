"""Judges with classifier heads: NLI, MiniCheck-RoBERTa, FactCG, AlignScore and LettuceDetect."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from factloop.core.errors import ConfigError
from factloop.tools.judges.hub import LocalFiles
from factloop.tools.judges.local import LocalJudge
from factloop.tools.judges.pairs import THRESHOLD, PairScore
from factloop.tools.text.sentences import split_sentences

_SUPPORT = ("entail", "support", "consistent", "faithful", "factual", "aligned")
_AGAINST = ("contradict", "refut")


@dataclass(frozen=True)
class LabelPlaces:
    """The indices of the outputs that mean support and, if the model has one, contradiction."""

    support: int
    contradict: int | None

    @classmethod
    def of(cls, id2label: Mapping[int, str], nameless: Mapping[int, LabelPlaces]) -> LabelPlaces:
        """Finds the indices by the labels' names. For names such as LABEL_0, `nameless` has the indices for each number
        of labels.

        Raises ConfigError if no single label means support.
        """
        names = {place: label.lower().replace("-", "_").replace(" ", "_") for place, label in id2label.items()}
        if len(names) in nameless and all(name == f"label_{place}" for place, name in names.items()):
            return nameless[len(names)]
        support = [place for place, name in names.items() if name.startswith(_SUPPORT)]
        against = [place for place, name in names.items() if name.startswith(_AGAINST)]
        if len(support) != 1 or len(against) > 1:
            raise ConfigError(
                f"cannot tell which label means support: the model's labels are {', '.join(sorted(names.values()))}"
            )
        return cls(support[0], against[0] if against else None)


class Classifier(LocalJudge):
    """Reads the document as premise and the claim as hypothesis. The score is the probability of the support label."""

    nameless: ClassVar[Mapping[int, LabelPlaces]] = {2: LabelPlaces(1, None)}
    """What labels without names mean: if there are two, the second means support."""

    def load(self) -> None:
        super().load()
        _ = self._places

    @cached_property
    def _places(self) -> LabelPlaces:
        return LabelPlaces.of(self._loaded[1].config.id2label, self.nameless)

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        shares = model(**tensors).logits.float().softmax(dim=-1)
        against = self._places.contradict
        return shares[:, [self._places.support, *([] if against is None else [against])]]


class Nli(Classifier):
    """Any natural language inference model. Reads P(entailment) and, with three classes, P(contradiction).

    Labels are identified by their names in the model's configuration. Each passage is a separate premise.
    """

    kind = "nli"
    reads_passages_alone = True


class MiniCheckRoberta(Classifier):
    """MiniCheck (Tang, Laban and Durrett 2024, arXiv 2404.10774). The score of `document </s> claim` is P(label 1).

    Chunks contain 400 tokens, as in the authors' package (github.com/Liyan06/MiniCheck). The DeBERTa weights use a
    different separator.
    """

    kind = "minicheck-roberta"
    n_tokens = 400

    def _form(self, document: str, claim: str) -> str:
        tokenizer = self._loaded[0]
        return f"{document}{tokenizer.eos_token or tokenizer.sep_token}{claim}"


class FactCg(Classifier):
    """FactCG (Lei et al. 2025, arXiv 2501.17144). The score of a document followed by a question is P(label 1).

    The template and the chunk size of 550 words come from the authors' package (github.com/derenlei/FactCG).

    Departure: words are separated by whitespace, and the sentences of a chunk keep the whitespace between them. The
    authors count NLTK tokens and put each sentence on a separate line.
    """

    kind = "factcg"
    longest = 2048
    n_words = 550

    def _form(self, document: str, claim: str) -> str:
        asked = f'Choose your answer: based on the paragraph above can we conclude that "{claim}"?'
        return f"{document}\n\n{asked}\n\nOPTIONS:\n- Yes\n- No\nI think the answer is "


class AlignScore(Classifier):
    """AlignScore (Zha et al. 2023, arXiv 2305.16739).

    The score is the mean over the claim's sentences of the highest P(aligned) over the chunks. P(aligned) is output 0
    of the three-way head, as in the authors' default mode `nli_sp` (section 3.2, equation 2;
    github.com/yuh-zha/AlignScore, `inference.py`). Output 2 is contradiction. The chunk comes before the sentence.

    The weights may be a sequence classifier with three labels, or the published checkpoint (`*.ckpt`) next to the
    configuration and tokenizer of RoBERTa. Only the tensors of a checkpoint are read; its code is never run. Its pooler
    and three-way head are loaded as the equivalent head of a RoBERTa classifier.

    Departure: a context of n words is cut into chunks of whole sentences, each with up to 350 words. The authors
    distribute the sentences evenly over n // 350 + 1 chunks, regardless of sentence length.
    """

    kind = "alignscore"
    n_words = 350
    nameless = {3: LabelPlaces(0, 2)}  # noqa: RUF012 - as in the base class

    def parts(self, claim: str) -> Sequence[str]:
        return [sentence.text for sentence in split_sentences(claim)] or (claim,)

    def _load_model(self, files: LocalFiles) -> Any:
        checkpoints = sorted(files.folder.glob("*.ckpt"))
        if not checkpoints:
            return super()._load_model(files)
        if len(checkpoints) > 1:
            raise ConfigError(f"{files.folder} contains {len(checkpoints)} checkpoints (*.ckpt); keep only one of them")
        return _of_checkpoint(checkpoints[0], files.base or files.folder)


_ENCODER, _POOLER, _HEAD = "base_model.", "base_model.pooler.dense.", "tri_layer."


def _of_checkpoint(path: Path, base: Path) -> Any:
    import torch
    from transformers import AutoConfig, RobertaForSequenceClassification

    config = AutoConfig.from_pretrained(base, local_files_only=True)
    if config.model_type != "roberta":
        raise ConfigError(f"{path}: the folder must contain a RoBERTa configuration, not one for {config.model_type}")
    config.num_labels = 3
    try:
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        weights = {new: tensor for old, tensor in found["state_dict"].items() if (new := _renamed(old)) is not None}
        model = RobertaForSequenceClassification(config)
        model.load_state_dict(weights)
    except (pickle.UnpicklingError, RuntimeError, KeyError, TypeError, AttributeError, EOFError, ValueError) as error:
        raise ConfigError(f"{path} is not an AlignScore checkpoint, or does not match its folder's config") from error
    return model


def _renamed(name: str) -> str | None:
    if name.startswith(_POOLER):
        return f"classifier.dense.{name.removeprefix(_POOLER)}"
    if name.startswith(_HEAD):
        return f"classifier.out_proj.{name.removeprefix(_HEAD)}"
    if name.startswith(_ENCODER) and not name.endswith("position_ids"):  # a buffer in older versions, not a weight
        return f"roberta.{name.removeprefix(_ENCODER)}"
    return None


class LettuceDetect(LocalJudge):
    """LettuceDetect (Kovács and Recski 2025, arXiv 2502.17125), which marks tokens that the context does not support.

    The score is 1 minus the highest P(hallucinated), which is class 1, of any token in the claim. The input is the
    context, in the authors' form for texts without a question, followed by the claim
    (github.com/KRLabsOrg/LettuceDetect, `summary_prompt_en.txt`).

    Departure: if a document is long, the chunk that best supports the claim determines the score. The authors take the
    highest P(hallucinated) of each token over all chunks, so every chunk would have to support the claim.
    """

    kind = "lettucedetect"
    longest = 4096
    frame = "Summarize the following text:\npassage 1: {}\noutput:"
    auto_class = "AutoModelForTokenClassification"

    def load(self) -> None:
        super().load()
        if self._loaded[1].config.num_labels != 2:
            raise ConfigError(f"{self.name}: the model must have two labels, not {self._loaded[1].config.num_labels}")

    def _read_batch(self, claims: list[str], documents: list[str]) -> list[PairScore]:
        tokenizer, model = self._loaded
        encoded = tokenizer(
            [self.frame.replace("{}", document) for document in documents], claims, truncation="only_first",
            padding=True, max_length=self._window, return_offsets_mapping=True, return_tensors="pt",
        )  # fmt: skip
        offsets = encoded.pop("offset_mapping").tolist()
        tensors = {name: one.to(model.device) for name, one in encoded.items()}
        shares = self._probabilities(model, tensors).float().cpu().tolist()
        found = []
        for number, claim in enumerate(claims):
            places = [place for place, part in enumerate(encoded.sequence_ids(number)) if part == 1]
            marked = [(offsets[number][place], shares[number][place]) for place in places]
            worst = max((share for _, share in marked), default=1.0)
            spans = [span for span, share in marked if share >= THRESHOLD]
            found.append(replace(self._scored(1.0 - worst), unsaid=_words(claim, spans)))
        return found

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        logits = model(input_ids=tensors["input_ids"], attention_mask=tensors["attention_mask"]).logits
        return logits.float().softmax(dim=-1)[..., 1]


def _words(claim: str, spans: list[list[int]]) -> str:
    merged: list[list[int]] = []
    for start, end in spans:
        if merged and not claim[merged[-1][1] : start].strip():
            merged[-1][1] = end
        else:
            merged.append([start, end])
    return " … ".join(claim[start:end].strip() for start, end in merged)
