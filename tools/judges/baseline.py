"""The packaged baseline, which compares the words of a claim with its sources and reports when it is unsure.

A logistic regression turns six features into a score, calibrated for equally many supported and unsupported claims. A
claim is `supported` if a sentence and its context say all of it, and `contradicted` if a similar sentence has another
figure or a negation. Other claims are `insufficient`, and the closest sentence is cited. The weights, thresholds, word
frequencies and cross-validated accuracies are in `baseline.json`, which `python -m benchmarks.fit_baseline` writes.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

from factloop.tools.judges.aligned import DENIERS, NOMINAL, Alignment, Parsed, align, clause_of, is_content, parse_all
from factloop.tools.judges.base import SupportReading
from factloop.tools.judges.contradiction import Difference, find_difference
from factloop.tools.judges.figures import Figure
from factloop.tools.judges.source_sentences import Sentence, read_passage, stems_of, word_key
from factloop.tools.text.pipeline import parsed_part

if TYPE_CHECKING:
    from spacy.tokens import Token

FILE_NAME = "baseline.json"
FEATURES = (
    "said",  # share of the claim's content words in the best sentence; words in its context and topic count less
    "focus",  # share of the content of the sentence's matching clauses that the claim covers
    "together",  # share of the claim's adjacent content words that occur together in some sentence
    "last",  # 1 if the last content word, which is usually the new information in a claim, occurs anywhere
    "names",  # 1 if no name is missing
    "figures",  # share of the figures that are in the sentence, its context or throughout the document
)
N_CANDIDATES = 4
MAX_CLAIM_CHARS = 1_200
MAX_CITED, MAX_LACKING = 3, 3
TOPIC = 3
"""Number of sentences in which a word must occur to belong to the topic of a document."""
IN_CONTEXT, IN_TOPIC = 0.8, 0.6
TELLING = 0.3
"""Minimum rarity of a function word that changes a date's meaning. *Before* does, *in* and *on* do not."""
RARE = 0.85
"""Rarity of a word that is not in the packaged list of frequencies."""
SUPPORTED, REFUTED = 0.8, 0.2
"""Minimum score of a supported claim, and maximum score of a contradicted claim."""
_LINKING = frozenset({"ADP", "AUX", "CCONJ", "INTJ", "PART", "PUNCT", "SCONJ", "SPACE", "SYM"})
_ADDING = frozenset({"prt", "quantmod"})  # relations of linking words that add something: *up* in *gave up*, *over 40*
_SILENT_TAGS = frozenset({"EX", "PRP", "PRP$", "WP", "WDT"})
_SILENT_KINDS = frozenset({"Prs", "Art", "Dem", "Rel"})


@dataclass(frozen=True)
class Model:
    intercept: float
    weights: tuple[float, ...]
    contradicted: float
    """Minimum proportion of a claim's other words in a sentence that contradicts its figure or verb."""
    frequencies: Mapping[str, int]
    """Number of the `n_sentences` sentences that contain each stem. Only common stems are listed."""
    n_sentences: int

    def score(self, features: Sequence[float]) -> float:
        z = self.intercept + sum(weight * value for weight, value in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-z))

    def rarity(self, stem: str) -> float:
        """Returns how informative a word is: near 0 for *the*, and `RARE` for a word that is not in the list."""
        count = self.frequencies.get(stem)
        if count is None:
            return RARE
        return 1.0 - math.log(count + 1) / math.log(self.n_sentences + 1)


@cache
def load_model() -> Model:
    found = json.loads(files("factloop.tools.judges").joinpath(FILE_NAME).read_text(encoding="utf-8"))
    model = found["model"]
    return Model(
        model["intercept"],
        tuple(model["weights"][name] for name in FEATURES),
        model["contradicted"],
        found["frequencies"],
        found["n_sentences"],
    )


@dataclass(frozen=True, eq=False)
class Evidence:
    sentences: tuple[Sentence, ...]
    passage_of: tuple[int, ...]
    document_of: tuple[int, ...]
    topics: Mapping[int, frozenset[str]]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset().union(*(one.stems for one in self.sentences))

    def recurs(self, figure: Figure, document: int) -> bool:
        same = (
            any(figure.compare(other) == "same" for other in one.figures)
            for one, of in zip(self.sentences, self.document_of, strict=True)
            if of == document
        )
        return sum(same) >= TOPIC


@lru_cache(maxsize=256)
def read_evidence(passages: tuple[str, ...], documents: tuple[int, ...]) -> Evidence:
    read = [
        (one, number, document)
        for number, (passage, document) in enumerate(zip(passages, documents, strict=True))
        for one in read_passage(passage)
    ]
    counts: dict[int, Counter[str]] = {}
    for one, _, document in read:
        counts.setdefault(document, Counter()).update(one.stems)
    topics = {of: frozenset(key for key, n in found.items() if n >= TOPIC) for of, found in counts.items()}
    sentences, numbers, of = zip(*read, strict=True) if read else ((), (), ())
    return Evidence(tuple(sentences), tuple(numbers), tuple(of), topics)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A claim and the closest sentence, preferably one that contains the whole claim."""

    evidence: Evidence
    alignment: Alignment
    places: tuple[int, ...]
    figures_held: tuple[float, ...]
    """For each figure of the claim, how certain it is that the closest sentence mentions it."""
    features: tuple[float, ...]
    difference: Difference | None
    """A figure or negation that differs from the claim."""

    @property
    def sentence(self) -> Sentence:
        return self.alignment.sentence

    def cited(self, place: int) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.evidence.passage_of[at] for at in (place, *self.places)))[:MAX_CITED]

    def missing(self) -> list[str]:
        """Returns the claim's names and figures that are missing from the sources, spelled as in the claim."""
        claim = self.alignment.claim
        names = [
            token.text
            for token, key in zip(claim.doc, claim.stems, strict=True)
            if token.pos_ == "PROPN"
            and any(map(str.isalnum, token.text))
            and token not in claim.spelt
            and key not in self.evidence.stems
        ]
        held = zip(claim.figures, self.figures_held, strict=True)
        return [*(figure.text for figure, share in held if not share), *names]

    @property
    def is_said(self) -> bool:
        """Whether the claim adds nothing to the sentence and its context, and changes nothing in the sentence."""
        return not self.missing() and _is_said(self.alignment)


def compare(claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> Comparison | None:
    model = load_model()
    evidence = read_evidence(tuple(passages), tuple(range(len(passages)) if documents is None else documents))
    parsed = parse_all([claim[:MAX_CLAIM_CHARS]])[0]
    weights = {key: model.rarity(key) for key in map(parsed.stem_of, parsed.content)}
    if not weights or not evidence.stems & weights.keys():
        return None
    places = _rank(weights, parsed, evidence)[:N_CANDIDATES]
    sources = parse_all([evidence.sentences[place].read_as for place in places])
    found = [
        align(parsed, source, evidence.sentences[place], evidence.topics[evidence.document_of[place]])
        for source, place in zip(sources, places, strict=True)
    ]
    is_said = list(map(_is_said, found))
    order = sorted(range(len(places)), key=lambda at: (not is_said[at], -_nearness(found[at], weights), at))
    best = order[0]
    alignment, document = found[best], evidence.document_of[places[best]]
    held = tuple(_figure_held(figure, alignment.sentence, evidence, document) for figure in parsed.figures)
    features = _features(alignment, evidence, held, model)
    near = [figure for other in found for figure in other.sentence.figures]
    differences = (find_difference(found[at], near, model.contradicted) for at in order[:2])
    difference = next(filter(None, differences), None) if features[FEATURES.index("names")] else None
    return Comparison(evidence, alignment, tuple(places[at] for at in order), held, features, difference)


def _rank(weights: Mapping[str, float], claim: Parsed, evidence: Evidence) -> list[int]:
    scores = []
    for place, one in enumerate(evidence.sentences):
        held = weights.keys() & one.stems
        same = sum(any(figure.compare(other) == "same" for other in one.figures) for figure in claim.figures)
        if not held and not same:
            continue
        rest = weights.keys() - held
        around = rest & one.context
        about = (rest - around) & evidence.topics[evidence.document_of[place]]
        score = sum(weights[key] for key in sorted(held)) + 0.8 * same
        score += 0.5 * sum(weights[key] for key in sorted(around)) + 0.4 * sum(weights[key] for key in sorted(about))
        scores.append((-score + (1.0 if one.is_heading else 0.0), place))
    return [place for _, place in sorted(scores)]


def _nearness(one: Alignment, weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    held = sum(weights[key] for key in sorted(weights.keys() & one.sentence.stems))
    around = sum(weights.get(one.claim.stem_of(token), 0.0) for token in one.in_context)
    kept = sum(map(one.keeps, one.arcs)) / len(one.arcs) if one.arcs else 1.0
    figures = one.claim.figures
    same = sum(any(figure.compare(other) == "same" for other in one.sentence.figures) for figure in figures)
    return (held + 0.5 * around) / total + 0.5 * kept + (0.3 * same / len(figures) if figures else 0.3)


def _figure_held(figure: Figure, sentence: Sentence, evidence: Evidence, document: int) -> float:
    if any(figure.compare(other) == "same" for other in sentence.figures):
        return 1.0
    near = any(figure.compare(other) == "same" for other in sentence.figures_around)
    return IN_CONTEXT if near or evidence.recurs(figure, document) else 0.0


def _features(one: Alignment, evidence: Evidence, figures: Sequence[float], model: Model) -> tuple[float, ...]:
    claim = one.claim
    content = [token for token in claim.content if token not in claim.spelt]
    stems = [claim.stem_of(token) for token in content]
    weights = [model.rarity(key) for key in stems]
    held = sum(weight * _held(one, token) for weight, token in zip(weights, content, strict=True))
    pairs = [any(a in other.stems and b in other.stems for other in evidence.sentences) for a, b in pairwise(stems)]
    names = [key for key, token in zip(stems, content, strict=True) if token.pos_ == "PROPN"]
    return (
        held / sum(weights) if weights else 1.0,
        _focus(one),
        sum(pairs) / len(pairs) if pairs else 1.0,
        float(not stems or stems[-1] in evidence.stems),
        float(all(name in evidence.stems for name in names)),
        sum(figures) / len(figures) if figures else 1.0,
    )


def _held(one: Alignment, token: Token) -> float:
    key = one.claim.stem_of(token)
    if key in one.sentence.stems:
        return 1.0
    if token.pos_ not in NOMINAL or token not in one.in_context:
        return 0.0
    return IN_CONTEXT if key in one.sentence.context else IN_TOPIC


def _focus(one: Alignment) -> float:
    clauses = set(map(clause_of, one.shared))
    own = [token for token in one.source.content if clause_of(token) in clauses]
    return sum(token in one.shared for token in own) / len(own) if own else 0.0


def _is_said(one: Alignment) -> bool:
    is_other = one.is_supposed or one.is_of_other_row or one.swaps_roles or one.parts_words
    return not (one.sentence.is_heading or is_other or _adds(one) or _denies(one) or _replaces(one))


def _adds(one: Alignment) -> list[Token]:
    told = (token for token in one.claim.doc if token.lemma_ not in ("be", "have") and not _is_silent(token))
    told = (token for token in told if is_content(token) or token.pos_ not in _LINKING or token.dep_ in _ADDING)
    return [token for token in told if not (token in one.claim.spelt or _held(one, token))]


def _denies(one: Alignment) -> bool:
    claimed, said = ({token.norm_ for token in parsed.doc} & DENIERS for parsed in (one.claim, one.source))
    return claimed != said


def _replaces(one: Alignment) -> bool:
    if one.sentence.is_row:
        return False
    claim, source, model = one.claim, one.source, load_model()
    figures = {token for token in claim.spelt if claim.stem_of(token) not in source.by_stem}
    figures |= {token.head for token in claim.spelt if model.rarity(claim.stem_of(token.head)) < TELLING}
    steps = SequenceMatcher(None, claim.stems, source.stems, autojunk=False).get_opcodes()
    return any(
        any(token not in figures and not _is_silent(token) for token in claim.doc[start:end])
        and not all(map(_is_silent, source.doc[first:last]))
        for kind, start, end, first, last in steps
        if kind == "replace"
    )


def _is_silent(token: Token) -> bool:
    return (
        not any(map(str.isalnum, token.text))
        or token.tag_ in _SILENT_TAGS
        or (token.pos_ == "AUX" and token.tag_ != "MD")
        or not _SILENT_KINDS.isdisjoint(token.morph.get("PronType", []))
    )


class Baseline:
    """Judges claims with the packaged model. It is free, offline, deterministic and thread-safe.

    The score is the probability of support if supported and unsupported claims are equally common. If the label is
    `insufficient`, a person or another judge must decide.
    """

    abstains = True

    @property
    def name(self) -> str:
        return "baseline"

    def verify(self, claim: str, passages: Sequence[str], documents: Sequence[int] | None = None) -> SupportReading:
        is_whole = len(claim) <= MAX_CLAIM_CHARS and parsed_part(claim) == claim
        if is_whole and (verbatim := _verbatim(claim, passages)) is not None:
            return verbatim
        found = compare(claim, passages, documents)
        if found is None:
            return SupportReading("insufficient", 0.0, (), "No passage mentions what the claim says.")
        score = load_model().score(found.features)
        near = next((at for at in found.places if not found.evidence.sentences[at].is_heading), None)
        quote = "" if near is None else found.evidence.sentences[near].whole
        cited = found.cited(found.places[0] if near is None else near)
        read = SupportReading("insufficient", score, cited, _reason(found, quote), quote)
        if found.difference is not None:
            return _contradicted(read, found, found.difference)
        if is_whole and found.is_said:
            said, score = f"The source says: “{quote}”", max(score, SUPPORTED)
            return replace(read, label="supported", score=score, rationale=said)
        return read


def _contradicted(read: SupportReading, found: Comparison, difference: Difference) -> SupportReading:
    place = next(at for at in found.places if found.evidence.sentences[at] is difference.sentence)
    wrong, instead, quote = difference.wrong, difference.instead, difference.sentence.whole
    says = f"The source says “{instead}”, the claim" if instead else "The source contradicts"
    score, why = min(read.score, REFUTED), f"{says} “{wrong}”: “{quote}”"
    return SupportReading("contradicted", score, found.cited(place), why, quote, wrong, instead)


def _reason(found: Comparison, quote: str) -> str:
    there = [figure for one in found.evidence.sentences for figure in one.figures]
    written = {_digits(figure.text) for figure in there}  # perhaps with its unit in another cell
    elsewhere = {
        one.text
        for one in found.alignment.claim.figures
        if _digits(one.text) in written or any(one.compare(at) == "same" for at in there)
    }
    absent = [one for one in found.missing() if one not in elsewhere]
    said, stem_of = stems_of(quote), found.alignment.claim.stem_of
    lacks = dict.fromkeys(one.text for one in _adds(found.alignment) if stem_of(one) not in said)
    if not absent and quote == found.sentence.whole and 0 < len(lacks) <= MAX_LACKING:
        return f"The nearest sentence does not mention “{'”, “'.join(lacks)}”. It says: “{quote}”"
    lead = f"None of the passages mentions “{absent[0]}”." if absent else "No sentence says all of this."
    return f"{lead} The nearest says: “{quote}”" if quote else lead


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text)) or text


def _verbatim(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """Returns None unless the claim consists of whole sentences from a passage."""
    key = word_key(claim)
    if len(key) < 3:
        return None
    first = next((number for number, passage in enumerate(passages) if key in word_key(passage)), None)
    if first is None:
        return None
    read = ((one.whole, word_key(one.text)) for one in read_passage(passages[first]))
    quote = next((text for text, said in read if key.startswith(said) or key in said), "")
    return SupportReading("supported", 0.99, (first,), f"The source says it word for word: “{quote}”", quote)
