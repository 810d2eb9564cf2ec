"""Claims held against facts: one-to-one matching."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_UNCOUNTED = """
    a aboard about above across after afterwards again against all along alongside already also although always am
    amid among an and another any anyone are around as at be because been before behind being below beneath beside
    besides between beyond both briefly but by can cannot concerning could currently d despite did do does down during
    each even eventually every everyone except few finally following for formerly from generally had has have he her
    here herself him himself his how however i if in including initially inside instead into is it its itself just
    largely later like ll m mainly many may me might more most mostly much must my near never no nobody nor not
    nothing now of off officially often on once one only onto or originally other our out outside over own past per
    previously primarily quickly re regarding s same several shall she should since so some someone something soon
    still subsequently successfully such t than that the their them themselves then there thereafter therefore these
    they this those though through throughout thus to together toward towards typically ultimately under underneath
    unless unlike until up upon us usually ve very via was we well were what when whenever where whereas wherever
    whether which while who whom whose why widely will with within without would yet you your
"""
"""Words that do not count. The list is the benchmark's own, so that figures of all versions stay comparable."""
_FUNCTION_WORDS = frozenset(_UNCOUNTED.split())
_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|%)?|[^\W\d_]\.(?:[^\W\d_]\.)+|\w+(?:[.'’&-]\w+)*|[^\w\s]")


def content_words(text: str) -> list[str]:
    """Lower-cased words that count, in order, with repetitions; numbers are among them."""
    words = (word.lower() for word in _TOKEN.findall(text.replace("’", "'").replace("'s", "")))
    return [word for word in words if word[0].isalnum() and word not in _FUNCTION_WORDS]


@dataclass(frozen=True, slots=True)
class Match:
    """The claims of one sentence against its facts."""

    n_claims: int
    n_facts: int
    agreement: float
    """Sum of the token F1 of the matched pairs."""

    @property
    def precision(self) -> float:
        """1 where there is no claim: none is wrong."""
        return self.agreement / self.n_claims if self.n_claims else 1.0

    @property
    def recall(self) -> float:
        return self.agreement / self.n_facts if self.n_facts else 1.0

    @property
    def f1(self) -> float:
        """1 where there is neither claim nor fact, 0 where there is one of them only."""
        total = self.n_claims + self.n_facts
        return 2 * self.agreement / total if total else 1.0


def match(claims: Sequence[str], facts: Sequence[str]) -> Match:
    """Each claim with at most one fact, the best pairs first."""
    left, right = [_tokens(claim) for claim in claims], [_tokens(fact) for fact in facts]
    pairs = sorted(
        ((token_f1(one, other), i, j) for i, one in enumerate(left) for j, other in enumerate(right)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    claims_taken: set[int] = set()
    facts_taken: set[int] = set()
    agreement = 0.0
    for score, claim, fact in pairs:
        if claim not in claims_taken and fact not in facts_taken:
            claims_taken.add(claim)
            facts_taken.add(fact)
            agreement += score
    return Match(len(claims), len(facts), agreement)


def token_f1(one: Counter[str], other: Counter[str]) -> float:
    """Harmonic mean of the shares of each text's content words that the other has as well."""
    n_tokens = one.total() + other.total()
    return 2 * (one & other).total() / n_tokens if n_tokens else 0.0


def _tokens(text: str) -> Counter[str]:
    return Counter(content_words(text))
