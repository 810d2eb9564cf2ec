"""Exact match, BLEU, ROUGE-L and METEOR: worked by hand, and what holds for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.mixedqa.reference.base import ReferenceMetric
from factloop.evaluation.mixedqa.reference.bleu import Bleu
from factloop.evaluation.mixedqa.reference.exact_match import ExactMatch, normalise
from factloop.evaluation.mixedqa.reference.meteor import Meteor, NoSynonyms, find_wordnet
from factloop.evaluation.mixedqa.reference.rouge import RougeL

METEOR = Meteor(NoSynonyms())
ALL: tuple[ReferenceMetric, ...] = (ExactMatch(), Bleu(1), Bleu(4), RougeL(), METEOR)


def score(metric: ReferenceMetric, candidate: str, *references: str) -> float | None:
    (found,) = metric.score([candidate], [references])
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Eiffel-Tower!", "eiffeltower"),
        ("a cat, an owl and the hen", "cat owl and hen"),
        ("Theatre", "theatre"),  # an article only where it is a word
        ("a.", ""),  # the full stop goes first
        ("Zürich\n2", "zürich 2"),
    ],
)
def test_normalised_as_squad_does(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        ("the Beatles.", ["Wings", "Beatles"], 1.0),
        ("Beatles band", ["Beatles"], 0.0),
        ("", ["Beatles"], 0.0),
        ("", ["The", "Beatles"], 0.0),
        ("Beatles", ["The", "!"], None),
        ("Beatles", [], None),
    ],
)
def test_exact_match(candidate: str, references: list[str], expected: float | None) -> None:
    assert score(ExactMatch(), candidate, *references) == expected


@pytest.mark.parametrize(
    ("longest", "candidate", "references", "expected"),
    [
        # two of three words; a reference of 4 is longer: brevity exp(1 - 4/3)
        (1, "the cat sat", ["the cat is here"], math.exp(-1 / 3) * 2 / 3),
        # jointly: one word from each, and the reference of 3 sets the length
        (1, "a b c", ["a x", "b y z"], 2 / 3),
        # a word counts as often as one reference has it
        (1, "the the the the", ["the cat the dog"], 2 / 4),
        (1, "Cat", ["cat"], 0.0),  # case is kept
        # 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 fours
        (4, "a b c d e", ["a b c d f"], (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)),
        # neither triples nor fours in two words: ln 2 / (2 * 5) and ln 2 / (4 * 5) stand in for them
        (4, "a b", ["a b"], (1 * 1 * math.log(2) / 10 * math.log(2) / 20) ** (1 / 4)),
        (4, "x y", ["a b"], 0.0),
        (4, "", ["a b"], 0.0),
        (1, "a", ["", " "], None),
        (4, "a", [], None),
    ],
)
def test_bleu(longest: Any, candidate: str, references: list[str], expected: float | None) -> None:
    found = score(Bleu(longest), candidate, *references)
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        # the longest common subsequence is "the cat on mat": 2 * 4 / (5 + 6)
        ("The cat sat on mat", ["the cat was on the mat"], 8 / 11),
        ("mat", ["cat", "mat"], 0.0),  # only the first reference counts
        ("", ["cat"], 0.0),
        ("भारत", ["भारत"], 0.0),
        ("cat", [], None),
    ],
)
def test_rouge_l(candidate: str, references: list[str], expected: float | None) -> None:
    found = score(RougeL(), candidate, *references)
    assert found == (None if expected is None else pytest.approx(expected))


def test_rouge_l_leaves_out_what_it_cannot_read_if_told_to() -> None:
    assert score(RougeL(wordless=None), "भारत", "भारत") is None
    assert score(RougeL(wordless=None), "India", "india") == 1.0


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        # P = 1, R = 3/4: 10 * 3/4 / (3/4 + 9); one chunk of three words: less (1/3)**3 / 2
        ("The cat sat", ["the cat sat on"], 7.5 / 9.75 * (1 - 1 / 54)),
        # the same words in two chunks: P = R = 1, less (2/2)**3 / 2
        ("b a", ["a b"], 0.5),
        ("cats", ["cat"], 0.5),  # by stem; one word is one chunk
        ("car", ["auto"], 0.0),
        ("x", ["y", "x"], 0.0),  # only the first reference counts
        ("", ["cat"], 0.0),
        ("cat", [" "], None),
        ("cat", [], None),
    ],
)
def test_meteor(candidate: str, references: list[str], expected: float | None) -> None:
    found = score(METEOR, candidate, *references)
    assert found == (None if expected is None else pytest.approx(expected))


@dataclass(frozen=True)
class Synset:
    """One group of synonyms, as nltk's WordNet gives it."""

    words: tuple[str, ...]

    def lemmas(self) -> list[Any]:
        return [Lemma(word) for word in self.words]


@dataclass(frozen=True)
class Lemma:
    word: str

    def name(self) -> str:
        return self.word


class Synonyms:
    def synsets(self, lemma: str, /) -> Iterable[Synset]:
        return [Synset(("car", "auto"))] if lemma in {"car", "auto"} else []


def test_meteor_matches_synonyms_where_it_has_them() -> None:
    with_synonyms = Meteor(Synonyms())
    assert score(with_synonyms, "car", "auto") == pytest.approx(0.5)
    assert (with_synonyms.name, METEOR.name) == ("METEOR", "METEOR (no WordNet)")
    assert Meteor().name == ("METEOR" if find_wordnet() is not None else "METEOR (no WordNet)")


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_lengths_have_to_agree(metric: ReferenceMetric) -> None:
    with pytest.raises(ValueError, match="2 candidates, but 1 references"):
        metric.score(["a", "b"], [["a"]])
    with pytest.raises(ValueError, match="1 candidates, but 2 evidence"):
        metric.score(["a"], [["a"]], evidence=["x", "y"])
    with pytest.raises(ValueError, match="a list of texts"):
        metric.score(["a"], ["a"])


WORDS = st.lists(st.sampled_from(["Ada", "paints", "the", "red", "bridges", "1843", "!"]), max_size=6).map(" ".join)
PAIRS = st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=3)), max_size=5)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
@given(pairs=PAIRS)
def test_bounds_and_each_for_itself(metric: ReferenceMetric, pairs: Sequence[tuple[str, list[str]]]) -> None:
    found = metric.score([candidate for candidate, _ in pairs], [group for _, group in pairs])
    assert all(value is None or 0.0 <= value <= 1.0 for value in found)
    assert found == [score(metric, candidate, *group) for candidate, group in pairs]


@given(words=st.lists(st.sampled_from(["ada", "paints", "red", "bridges"]), min_size=4, max_size=8).map(" ".join))
def test_a_reference_itself_scores_best(words: str) -> None:
    for metric in (ExactMatch(), Bleu(1), Bleu(4), RougeL()):
        assert score(metric, words, words) == pytest.approx(1.0)
    n = len(words.split())
    assert score(METEOR, words, words) == pytest.approx(1 - n**-3 / 2)  # a single chunk
