"""Reference-based metrics by name, as `factloop eval mixedqa --metric` takes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from factloop.core.errors import ConfigError
from factloop.evaluation.mixedqa.reference.base import ReferenceMetric
from factloop.evaluation.mixedqa.reference.bertscore import BertScore
from factloop.evaluation.mixedqa.reference.bleu import Bleu
from factloop.evaluation.mixedqa.reference.exact_match import ExactMatch
from factloop.evaluation.mixedqa.reference.likelihood import AnswerContext, bart_score, gpt_score
from factloop.evaluation.mixedqa.reference.meteor import Meteor
from factloop.evaluation.mixedqa.reference.rouge import RougeL

_LEXICAL: Mapping[str, Callable[[], ReferenceMetric]] = {
    "em": ExactMatch,
    "bleu-1": lambda: Bleu(1),
    "bleu-4": lambda: Bleu(4),
    "rouge-l": RougeL,
    "meteor": Meteor,
}
_LIKELIHOODS = {"bartscore": bart_score, "gptscore": gpt_score}
_MODELS = ("bertscore", *(f"{name}-{given.value}" for name in _LIKELIHOODS for given in AnswerContext))
_LAYER = re.compile(r"(?P<path>.+)@(?P<layer>\d+)")

NAMES = ("lexical", *_LEXICAL, *(f"{name}:MODEL" for name in _MODELS))
"""What a specification may be. `lexical` stands for all that need no model."""


def build_metrics(specifications: tuple[str, ...], *, allow_download: bool = False) -> tuple[ReferenceMetric, ...]:
    """The metrics in the order asked for, each once.

    MODEL is a folder or a name on the hub, which is asked only with `allow_download`; of BERTScore's the layer may
    follow: `bertscore:roberta-large@17`. Weights are loaded when a metric first scores. Raises ConfigError for a
    specification that is not known.
    """
    wanted = [name for one in specifications for name in (_LEXICAL if one == "lexical" else (one,))]
    return tuple(_build(one, allow_download) for one in dict.fromkeys(wanted))


def _build(specification: str, allow_download: bool) -> ReferenceMetric:
    name, mark, model = specification.partition(":")
    if name in _LEXICAL and not mark:
        return _LEXICAL[name]()
    if name not in _MODELS or not model:
        raise ConfigError(f"--metric {specification}: there are {', '.join(NAMES)}")
    if name == "bertscore":
        found = _LAYER.fullmatch(model)
        layer = int(found["layer"]) if found else None
        return BertScore(found["path"] if found else model, layer=layer, allow_download=allow_download)
    kind, _, given = name.partition("-")
    return _LIKELIHOODS[kind](model, AnswerContext(given), allow_download=allow_download)
