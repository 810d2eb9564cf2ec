"""The metrics in MixedQA's Table 1, which compare answers with correct answers, the question or evidence.

Lexical metrics need no model. BERTScore, BARTScore and GPTScore load a model of your choice on first use, from a folder
or the Hugging Face Hub. Metrics have names such as `bleu-1` and `bertscore:roberta-large@17`.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, Protocol

from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.tools.model_files import encodable, loading_model, short_name

Scores = list[float | None]
"""One score per candidate, or None where there is no score. Higher is better."""
Texts = Sequence[str | None]
_LONGEST = 512
"""Maximum number of tokens that a metric reads from a text. The model may have a lower limit."""


@dataclass(frozen=True)
class Answers:
    """Candidates and the texts to compare them with. All columns have the same length."""

    candidates: Sequence[str]
    references: Sequence[Sequence[str]]
    """The correct answers to each question, best first."""
    questions: Texts
    evidence: Texts


@dataclass(frozen=True)
class ReferenceMetric:
    name: str
    """The name in tables, which distinguishes variants of a metric."""
    score_answers: Callable[[Answers], Scores]

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        """Returns a score for each candidate, or None if the text to compare it with is missing or contains no words.

        A metric uses only the columns that it needs. Raises ValueError if the columns differ in length, and ConfigError
        if the model cannot be loaded.
        """
        for name, given in (("references", references), ("questions", questions), ("evidence", evidence)):
            if given is not None and len(given) != len(candidates):
                raise ValueError(f"`{name}` has length {len(given)}, but `candidates` has length {len(candidates)}")
        if any(isinstance(group, str) for group in references):
            raise ValueError("each candidate's references must be a list of strings, not a single string")
        nothing: Texts = [None] * len(candidates)
        return self.score_answers(Answers(candidates, references, questions or nothing, evidence or nothing))


def _lexical(name: str, score_one: Callable[[str, Sequence[str]], float | None]) -> ReferenceMetric:

    def score(answers: Answers) -> Scores:
        return [score_one(*pair) for pair in zip(answers.candidates, answers.references, strict=True)]

    return ReferenceMetric(name, score)


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """Converts the text to lower case, removes ASCII punctuation and English articles, and collapses spaces.

    The order of these steps is that of SQuAD's script (Rajpurkar et al. 2016, section 6.1), so articles that appear
    only after punctuation has been removed are removed too.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match() -> ReferenceMetric:
    """Exact match: 1.0 if the normalised candidate equals any normalised reference, otherwise 0.0.

    The score is None if there are no references. Departure from SQuAD's script: references that become empty (such as
    "The") are skipped, so an empty candidate never matches.
    """

    def score(candidate: str, references: Sequence[str]) -> float | None:
        wanted = {words for reference in references if (words := normalise(reference))}
        return float(normalise(candidate) in wanted) if wanted else None

    return _lexical("Exact Match", score)


def bleu(longest: Literal[1, 4]) -> ReferenceMetric:
    """BLEU-1 or BLEU-4 (Papineni et al. 2002) in [0, 1] against all references jointly, computed with NLTK.

    Text is split at spaces, and case matters. BLEU is designed for a corpus, so for single answers, BLEU-4 is smoothed
    with "method 4" of Chen and Cherry 2014, section 3. BLEU-1 is not smoothed. The score is 0.0 if the candidate is
    empty or has no words in common with any reference, and None if no references contain words.
    """
    weights = (1.0 / longest,) * longest

    def score(candidate: str, references: Sequence[str]) -> float | None:
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu  # type: ignore[import-untyped]  # has no type hints

        split = [words for reference in references if (words := reference.split())]
        if not split:
            return None
        smoothing = SmoothingFunction().method4 if longest > 1 else None
        return float(sentence_bleu(split, candidate.split(), weights, smoothing_function=smoothing))

    return _lexical(f"BLEU-{longest}", score)


def rouge_l() -> ReferenceMetric:
    """ROUGE-L (Lin 2004, section 3.1): F-measure in [0, 1] of the longest common subsequence with the first reference.

    Computed with rouge-score, without a stemmer. Words are runs of `a-z` and `0-9` in lower case, so text in other
    scripts has no words. The score is 0.0 if either text has no words, as in MixedQA's published figures. It is None if
    there are no references.
    """

    def score(candidate: str, references: Sequence[str]) -> float | None:
        if not references:
            return None
        return float(_rouge_scorer().score(references[0], candidate)["rougeL"].fmeasure)

    return _lexical("ROUGE-L", score)


@cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # has no type hints

    return RougeScorer(["rougeL"], use_stemmer=False)


class SynonymSource(Protocol):
    """The part of NLTK's WordNet interface that METEOR needs."""

    def synsets(self, lemma: str, /) -> Iterable[Any]:
        """Returns groups of synonyms. Each group has `lemmas()`, and each lemma has a `name()`."""
        ...


class NoSynonyms:
    """With this source, METEOR matches only identical words and identical stems."""

    def synsets(self, lemma: str, /) -> Iterable[Any]:  # noqa: ARG002  # there are none, whatever the word
        return ()


def find_wordnet() -> SynonymSource | None:
    """Returns NLTK's WordNet, or None if `python -m nltk.downloader wordnet` has not installed its data."""
    from nltk.corpus import wordnet  # type: ignore[import-untyped]  # has no type hints

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    found: SynonymSource = wordnet
    return found


def meteor(synonyms: SynonymSource | None = None) -> ReferenceMetric:
    """METEOR (Banerjee and Lavie 2005) in [0, 1] against the first reference, computed with NLTK on lowercased text.

    Identical words are matched first, then words with the same Porter stem, and then synonyms, by default from WordNet
    if it is installed. Without synonyms, the metric is named `METEOR (no WordNet)`, and its correlation on MixedQA
    changes by at most 0.005. The score is 0.0 for an empty candidate, and None if the first reference is missing or
    blank.

    Departure from the paper: NLTK aligns matches in order of occurrence, rather than with the fewest crossings.
    """
    source = synonyms or find_wordnet() or NoSynonyms()

    def score(candidate: str, references: Sequence[str]) -> float | None:
        from nltk.tokenize import NLTKWordTokenizer  # type: ignore[import-untyped]  # has no type hints
        from nltk.translate.meteor_score import single_meteor_score  # type: ignore[import-untyped]  # likewise

        split = NLTKWordTokenizer().tokenize
        wanted = split(references[0]) if references else []
        return float(single_meteor_score(wanted, split(candidate), wordnet=source)) if wanted else None

    return _lexical("METEOR (no WordNet)" if isinstance(source, NoSynonyms) else "METEOR", score)


def bert_score(model: str | Path, layer: int | None = None, *, allow_download: bool = False) -> ReferenceMetric:
    """BERTScore (Zhang et al. 2020, section 3): the F1 of tokens matched greedily by cosine similarity, in [-1, 1].

    Computed with bert-score, without idf weights or baseline rescaling, so scores are close together. If there are
    several references, the best match counts. Texts are truncated to the model's maximum length. The score is 0.0 for a
    blank candidate, and None if all references are blank.

    Departure from bert-score: there is no default model, and the layer defaults to the last one. Choose a layer that
    suits the model (17 for roberta-large, 9 for bert-base-uncased).
    """
    load = cache(partial(_load_encoder, str(model), layer, allow_download))

    def score(answers: Answers) -> Scores:
        wanted = [[encodable(text.strip()) for text in group if text.strip()] for group in answers.references]
        pairs = [
            (place, encodable(candidate.strip()), reference)
            for place, candidate in enumerate(answers.candidates)
            if candidate.strip()
            for reference in wanted[place]
        ]
        found: Scores = [0.0 if group else None for group in wanted]
        best: dict[int, float] = {}
        for (place, _, _), value in zip(pairs, f1(pairs), strict=True):
            best[place] = max(value, best.get(place, value))
        return [best.get(place, value) for place, value in enumerate(found)]

    def f1(pairs: Sequence[tuple[int, str, str]]) -> list[float]:
        if not pairs:
            return []
        require("metrics", "BERTScore")
        from bert_score.utils import bert_cos_score_idf  # type: ignore[import-untyped]  # has no type hints

        tokenizer, encoder = load()
        weights: defaultdict[int, float] = defaultdict(lambda: 1.0)
        weights.update({tokenizer.sep_token_id: 0.0, tokenizer.cls_token_id: 0.0})
        references, candidates = [one[2] for one in pairs], [one[1] for one in pairs]
        table = bert_cos_score_idf(encoder, references, candidates, tokenizer, weights, device="cpu", batch_size=32)
        return [float(value) for value in table[:, 2]]

    return ReferenceMetric(f"BERTScore ({short_name(str(model))})", score)


def _load_encoder(name: str, layer: int | None, allow_download: bool) -> tuple[Any, _Layer]:
    with loading_model(name, extra="metrics"):
        from transformers import AutoModel, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=not allow_download)
        model = AutoModel.from_pretrained(name, local_files_only=not allow_download)
    positions = int(getattr(model.config, "max_position_embeddings", _LONGEST + 2)) - 2  # RoBERTa starts at two
    tokenizer.model_max_length = min(tokenizer.model_max_length, _LONGEST, positions)  # may be 10**30: unspecified
    n_layers = int(model.config.num_hidden_layers)
    chosen = n_layers if layer is None else layer
    if not 0 <= chosen <= n_layers:
        raise ConfigError(f"{name!r} has no layer {chosen}; choose a layer from 0 to {n_layers}")
    encoder = model.get_encoder() if model.config.is_encoder_decoder else model
    return tokenizer, _Layer(encoder.eval(), chosen)


@dataclass(frozen=True)
class _Layer:
    """Wraps a model so that its first output is the hidden states of one layer, as bert-score expects."""

    model: Any
    layer: int

    def __call__(self, tokens: Any, *, attention_mask: Any, output_hidden_states: bool) -> tuple[Any]:  # noqa: ARG002
        states = self.model(tokens, attention_mask=attention_mask, output_hidden_states=True).hidden_states
        return (states[self.layer],)

    def parameters(self) -> Any:
        """Called by bert-score to find the device."""
        return self.model.parameters()

    def eval(self) -> None:
        """Called by bert-score before each batch. The model is already in evaluation mode."""


class AnswerContext(StrEnum):
    """What a model reads before the answer. The values are the suffixes used in MixedQA's Table 1."""

    REFERENCE = "ref"
    QUESTION = "src"
    EVIDENCE = "evid"


INSTRUCTIONS: Mapping[AnswerContext, str] = {
    AnswerContext.REFERENCE: "Say in other words what this answer says.",
    AnswerContext.QUESTION: "Answer this question.",
    AnswerContext.EVIDENCE: "State a fact that this text bears out.",
}
"""The texts that GPTScore puts before the context. The instructions used for MixedQA's table were never published, so
its figures can only be approximated."""


def bart_score(model: str | Path, given: AnswerContext, *, allow_download: bool = False) -> ReferenceMetric:
    """BARTScore (Yuan et al. 2021): p(answer | text). The paper uses the facebook/bart-large-cnn model. If the text is
    the reference, Yuan et al. call this direction precision."""
    return _likelihood("BARTScore", str(model), given, "", allow_download)


def gpt_score(
    model: str | Path, given: AnswerContext, *, instruction: str | None = None, allow_download: bool = False
) -> ReferenceMetric:
    """GPTScore (Fu et al. 2023): p(answer | instruction and text). MixedQA's table uses google/flan-t5-base.
    `instruction` defaults to the one in `INSTRUCTIONS`."""
    words = INSTRUCTIONS[given] if instruction is None else instruction
    return _likelihood("GPTScore", str(model), given, words, allow_download)


def _likelihood(
    label: str, model: str, given: AnswerContext, instruction: str, allow_download: bool
) -> ReferenceMetric:
    """Scores an answer by the mean log-probability of its tokens given a text (at most 0, higher is better).

    The score is `sum over t of log p(y_t | y_<t, x) / n` with natural logarithms (Yuan et al., equation 2, and Fu et
    al., equation 1, with equal weights). In an encoder-decoder model, x is the input of the encoder, and the answer's
    tokens include those that the tokenizer adds around a text, as in BARTScore's code. In a decoder-only model, x
    precedes the answer and is not counted. Text and answer are truncated to the model's maximum length, and x to half
    of it in a decoder-only model. The score is None if the answer is blank, or if the text is missing or blank.
    """
    load = cache(partial(_load_language_model, model, allow_download))

    def score(answers: Answers) -> Scores:
        texts = {
            AnswerContext.REFERENCE: [group[0] if group else None for group in answers.references],
            AnswerContext.QUESTION: answers.questions,
            AnswerContext.EVIDENCE: answers.evidence,
        }[given]
        pairs = {
            place: (encodable(f"{instruction}\n{text}\n" if instruction else text), encodable(answer))
            for place, (text, answer) in enumerate(zip(texts, answers.candidates, strict=True))
            if text and text.strip() and answer.strip()
        }
        found: Scores = [None] * len(answers.candidates)
        places = sorted(pairs, key=lambda place: sum(map(len, pairs[place])))  # similar lengths need little padding
        for start in range(0, len(places), 8):
            batch = places[start : start + 8]
            for place, value in zip(batch, _mean_logs(*load(), [pairs[one] for one in batch]), strict=True):
                found[place] = value
        return found

    return ReferenceMetric(f"{label}-{given} ({short_name(model)})", score)


def _load_language_model(name: str, allow_download: bool) -> tuple[Any, Any]:
    local = not allow_download
    with loading_model(name, extra="metrics"):
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

        config = AutoConfig.from_pretrained(name, local_files_only=local)
        kind: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
        model = kind.from_pretrained(name, local_files_only=local)
    return tokenizer, model.eval()


_IGNORED = -100
"""The label given to padding and to tokens before the answer, as in transformers."""


def _mean_logs(tokenizer: Any, model: Any, pairs: Sequence[tuple[str, str]]) -> Iterator[float | None]:
    import torch

    texts, answers = [text for text, _ in pairs], [answer for _, answer in pairs]
    longest = min(_LONGEST, int(getattr(model.config, "max_position_embeddings", None) or _LONGEST))
    has_encoder = model.config.is_encoder_decoder
    inputs, labels = (_for_both if has_encoder else _for_decoder)(tokenizer, texts, answers, longest)
    with torch.inference_mode():
        logits = model(**inputs, **({"labels": labels} if has_encoder else {})).logits.float()
    if not has_encoder:
        logits, labels = logits[:, :-1], labels[:, 1:]  # each position predicts the next token
    counted = labels != _IGNORED
    chosen = logits.log_softmax(dim=-1).gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    for row, mask in zip(chosen, counted, strict=True):
        yield float(row[mask].mean()) if mask.any() else None


def _for_both(tokenizer: Any, texts: list[str], answers: list[str], longest: int) -> tuple[dict[str, Any], Any]:
    options = {"truncation": True, "max_length": longest, "padding": True, "return_tensors": "pt"}
    inputs, targets = tokenizer(texts, **options), tokenizer(text_target=answers, **options)
    labels = targets["input_ids"].masked_fill(targets["attention_mask"] == 0, _IGNORED)
    return {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"]}, labels


def _for_decoder(tokenizer: Any, texts: list[str], answers: list[str], longest: int) -> tuple[dict[str, Any], Any]:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    before = tokenizer(texts, truncation=True, max_length=longest // 2)["input_ids"]
    after = tokenizer(answers, add_special_tokens=False)["input_ids"]
    rows = [torch.tensor((text + answer)[:longest]) for text, answer in zip(before, after, strict=True)]
    labels = pad_sequence(rows, batch_first=True, padding_value=_IGNORED)
    for row, text in zip(labels, before, strict=True):
        row[: len(text)] = _IGNORED
    tokens = pad_sequence(rows, batch_first=True, padding_value=0)  # any token will do, since it is masked
    mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True, padding_value=0)
    return {"input_ids": tokens, "attention_mask": mask}, labels


_LEXICAL: Mapping[str, Callable[[], ReferenceMetric]] = {
    "em": exact_match,
    "bleu-1": partial(bleu, 1),
    "bleu-4": partial(bleu, 4),
    "rouge-l": rouge_l,
    "meteor": meteor,
}
_LIKELIHOODS = {"bartscore": bart_score, "gptscore": gpt_score}
_MODELS = ("bertscore", *(f"{name}-{given.value}" for name in _LIKELIHOODS for given in AnswerContext))
_LAYER = re.compile(r"(?P<path>.+)@(?P<layer>\d+)")
NAMES = ("lexical", *_LEXICAL, *(f"{name}:MODEL" for name in _MODELS))
"""The valid specifications. `lexical` means all metrics that need no model."""


def build_metrics(specifications: tuple[str, ...], *, allow_download: bool = False) -> tuple[ReferenceMetric, ...]:
    """Builds the metrics specified with `factloop eval mixedqa --metric`, in that order and without duplicates.

    MODEL is a folder or a name on the Hugging Face Hub, which is accessed only if `allow_download` is set. For
    BERTScore, a layer may follow the model, as in `bertscore:roberta-large@17`. Raises ConfigError for unknown metrics.
    """
    wanted = [name for one in specifications for name in (_LEXICAL if one == "lexical" else (one,))]
    return tuple(_build(one, allow_download) for one in dict.fromkeys(wanted))


def _build(specification: str, allow_download: bool) -> ReferenceMetric:
    name, mark, model = specification.partition(":")
    if name in _LEXICAL and not mark:
        return _LEXICAL[name]()
    if name not in _MODELS or not model:
        raise ConfigError(f"unknown --metric {specification}; choose one of {', '.join(NAMES)}")
    if name == "bertscore":
        found = _LAYER.fullmatch(model)
        layer = int(found["layer"]) if found else None
        return bert_score(found["path"] if found else model, layer, allow_download=allow_download)
    kind, _, given = name.partition("-")
    return _LIKELIHOODS[kind](model, AnswerContext(given), allow_download=allow_download)
