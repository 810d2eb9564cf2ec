"""What each family of rules brings: the score with all rules less the score without the family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.splitting.code import lines_of
from benchmarks.splitting.gold import Sentence
from benchmarks.splitting.matching import Match, match
from factloop.tools.linguistics.anaphora import refers_back
from factloop.tools.linguistics.claims import RULES, Rules, split_claims
from factloop.tools.linguistics.discourse import context_at
from factloop.tools.linguistics.families import Rule, without
from factloop.tools.linguistics.outline import read_outline
from factloop.tools.linguistics.queries import search_query
from factloop.tools.linguistics.references import RESOLVERS, Resolver, is_ambiguous, resolve_references
from factloop.tools.linguistics.relevance import is_relevant
from factloop.tools.linguistics.silence import silence_of, states_nothing

if TYPE_CHECKING:
    from spacy.language import Language

Scores = Mapping[str, NDArray[np.float64]]
"""F1 of each sentence, by the name of its set."""

N_RESAMPLES = 2_000
_USED_ANYWAY = (
    split_claims, resolve_references, context_at, is_ambiguous, is_relevant, refers_back, read_outline, search_query,
    silence_of, states_nothing,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Splitter:
    """The rules that make claims of a sentence."""

    rules: Rules = RULES
    resolvers: tuple[Rule[Resolver], ...] = RESOLVERS
    nlp: Language | None = None
    """A spaCy pipeline, whose parse splits in the place of the rules."""

    @property
    def families(self) -> tuple[str, ...]:
        return (*self.rules.families, *(rule.family for rule in self.resolvers))

    def without(self, family: str) -> Splitter:
        """The splitter without one family. Raises ValueError where it has no such family."""
        if family not in self.families:
            raise ValueError(f"no family {family!r}: there are {', '.join(self.families)}")
        return replace(self, rules=self.rules.without(family), resolvers=without(self.resolvers, family))

    def functions(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Each family with each of its functions."""
        for group in (*(getattr(self.rules, field.name) for field in fields(self.rules)), self.resolvers):
            yield from ((rule.family, rule.apply) for rule in group)

    def claims(self, sentence: Sentence) -> list[str]:
        """The claims of a sentence, resolved where its facts are."""
        claims = split_claims(sentence.text, self.nlp, rules=self.rules)
        if not sentence.is_resolved:
            return claims
        context = context_at(sentence.response, sentence.start, sentence.prompt, self.nlp)
        return [resolve_references(claim, context, self.nlp, rules=self.resolvers) for claim in claims]

    def matches(self, sentences: Iterable[Sentence]) -> list[Match]:
        return [match(self.claims(sentence), sentence.facts) for sentence in sentences]

    def scores(self, sentences: Iterable[Sentence]) -> NDArray[np.float64]:
        """F1 of each sentence."""
        return np.asarray([found.f1 for found in self.matches(sentences)])


@dataclass(frozen=True, slots=True)
class Worth:
    """What one family brings on one set, in hundredths of the mean F1 of a sentence."""

    points: float
    low: float
    high: float
    """95 % interval by bootstrap over sentences."""
    n_changed: int
    """Sentences whose score the family changes."""


def worth(scores_with: NDArray[np.float64], scores_without: NDArray[np.float64]) -> Worth:
    """What a family adds, by the scores of the same sentences with and without it."""
    differences = (scores_with - scores_without) * 100
    rng = np.random.default_rng(0)
    picks = rng.integers(len(differences), size=(N_RESAMPLES, len(differences)))
    low, high = np.quantile(differences[picks].mean(axis=1), (0.025, 0.975))
    return Worth(float(differences.mean()), float(low), float(high), int(np.count_nonzero(differences)))


def scores_by_set(splitter: Splitter, sets: Mapping[str, Sequence[Sentence]]) -> Scores:
    return {name: splitter.scores(sentences) for name, sentences in sets.items()}


def worth_by_set(scores_with: Scores, scores_without: Scores) -> dict[str, Worth]:
    """What a family adds on each set, and on the sentences of all of them under `all`."""
    pairs = {name: (scores_with[name], scores_without[name]) for name in scores_with}
    pairs["all"] = np.concatenate(list(scores_with.values())), np.concatenate(list(scores_without.values()))
    return {name: worth(*pair) for name, pair in pairs.items()}


def n_lines(family: str, splitter: Splitter) -> int:
    """Lines of code that only this family needs."""
    own = [function for name, function in splitter.functions() if name == family]
    return lines_of(own, [*(function for name, function in splitter.functions() if name != family), *_USED_ANYWAY])
