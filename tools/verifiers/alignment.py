"""Which word of a sentence stands for which word of a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from factloop.tools.verifiers.passage_index import STEM_CHARS
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import FIGURES, Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import ANTONYMS, CONVERSES, OTHER_SIDE, OWN_SIDE, PARTICLES, SYNONYMS, UNITS

MAX_KEPT = 20_000


@dataclass(frozen=True, eq=False)
class Alignment:
    """A claim laid beside a sentence, or a few sentences in a row."""

    claim: Reading
    sentence: Reading
    partners: Mapping[int, tuple[int, ...]]
    """For each place of the claim with a partner: all places of the sentence that say the same, or the opposite."""
    pairs: Mapping[int, int]
    """The one partner of each that stands with most of the others."""
    opposed: frozenset[int]
    """Places of the claim whose partner says the opposite."""
    main: int
    """The clause of the sentence that holds the most of the claim."""

    @cached_property
    def paired(self) -> frozenset[int]:
        """Places of the sentence that are a partner."""
        return frozenset(self.pairs.values())

    @cached_property
    def claim_keys(self) -> frozenset[str]:
        return frozenset(term.key for term in self.claim.terms)

    @cached_property
    def share(self) -> float:
        """Share of the claim's content that has a partner."""
        content = self.claim.content
        return len(self.pairs) / len(content) if content else 0.0

    @cached_property
    def share_in_main(self) -> float:
        """Share of the claim's content that has its partner in the main clause."""
        content = self.claim.content
        held = sum(self.sentence.clauses[place] == self.main for place in self.pairs.values())
        return held / len(content) if content else 0.0

    def clauses_of(self, place: int) -> frozenset[int]:
        """The clauses of the sentence that hold a partner of this place of the claim."""
        return frozenset(self.sentence.clauses[partner] for partner in self.partners.get(place, ()))


def align(claim: Reading, sentence: Reading) -> Alignment:
    """Lays a claim beside a sentence."""
    partners: dict[int, tuple[int, ...]] = {}
    opposed: set[int] = set()
    for place in claim.content:
        said = _same(claim.terms[place], sentence)
        straight = _not_turned(claim, place, sentence, said)
        same = straight or said
        has_both = bool(opposite_places(claim.terms[place], claim))  # "a brother and a sister"
        spared = same or has_both or _has_like(claim.terms[place], sentence)
        opposite = () if spared else opposite_places(claim.terms[place], sentence)
        if same or opposite:
            partners[place] = same or opposite
        if opposite or (same and not straight):
            opposed.add(place)
    held = Counter(clause for places in partners.values() for clause in {sentence.clauses[place] for place in places})
    main = max(held, key=lambda clause: (held[clause], -clause), default=0)
    return Alignment(claim, sentence, partners, _nearest(partners, sentence, main), frozenset(opposed), main)


def holds_opposite(claim: Reading, sentence: Reading) -> bool:
    """Whether the sentence has the opposite of a word of the claim, be that word there or not."""
    return any(opposite_places(claim.terms[place], sentence) for place in claim.content)


def _nearest(partners: Mapping[int, tuple[int, ...]], sentence: Reading, main: int) -> dict[int, int]:
    """One partner each, in the main clause if it can be, and as near as possible to the one before."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    expected = 0
    for place, places in partners.items():
        free = [one for one in places if one not in taken] or places
        pairs[place] = min(free, key=lambda one: (sentence.clauses[one] != main, abs(one - expected)))
        taken.add(pairs[place])
        expected = pairs[place] + 1
    return pairs


def says_same(term: Term, other: Term) -> bool:
    """Whether two words are forms of one, or spellings of one unit."""
    unit = UNITS.get(term.key)
    return term.key == other.key or (unit is not None and unit == UNITS.get(other.key)) or _share_stem(term, other)


def _share_stem(term: Term, other: Term) -> bool:
    stems = {one.key[:STEM_CHARS] for one in (term, other) if one.kind is TermKind.WORD and len(one.key) >= STEM_CHARS}
    return len(stems) == 1 and term.kind is other.kind and min(len(term.key), len(other.key)) >= STEM_CHARS


def _same(term: Term, sentence: Reading) -> tuple[int, ...]:
    """The places of a word, else of its stem, of its unit, of a converse, of a synonym."""
    if term.period is not None:
        return sentence.places.get(term.period.ljust(4, "."), ())
    exact = sentence.places.get(term.key, ())
    if term.kind in FIGURES:
        return tuple(place for place in exact if sentence.terms[place].kind in FIGURES)
    if exact:
        return exact
    if term.kind is TermKind.WORD and len(term.key) >= STEM_CHARS:
        stemmed = sentence.places.get(f"{term.key[:STEM_CHARS]}-", ())
        if stemmed:
            return stemmed
    unit = UNITS.get(term.key)
    if unit is not None:
        return tuple(place for place, other in enumerate(sentence.terms) if UNITS.get(other.key) == unit)
    others = CONVERSES.get(term.key, frozenset()) | SYNONYMS.get(term.key, frozenset())
    return tuple(place for other in sorted(others) for place in sentence.places.get(other, ()))


def _has_like(term: Term, sentence: Reading) -> bool:
    """Whether a word of like sense stands in the sentence: where *fell* follows *grew*, *rose* has no opposite."""
    return not OWN_SIDE.get(term.key, frozenset()).isdisjoint(sentence.places)


def _not_turned(claim: Reading, place: int, sentence: Reading, partners: tuple[int, ...]) -> tuple[int, ...]:
    """The partners of a verb beside which no particle turns it into its opposite: *switched on*, *switched off*."""
    others = PARTICLES.get(_following(claim, place), frozenset())
    return tuple(one for one in partners if not others or _following(sentence, one) not in others)


def _following(reading: Reading, place: int) -> str:
    """The word after a verb, in lower case; nothing after any other word."""
    following = reading.terms[place + 1 : place + 2] if is_verb(reading.terms[place]) else ()
    return following[0].surface.lower() if following else ""


def opposite_places(term: Term, sentence: Reading) -> tuple[int, ...]:
    """The places of the opposites of a word; for a name among names alone, so that *New York* has nothing *old*."""
    opposites = _opposites(term.key)
    if not opposites or _lasts(term):
        return ()
    is_name = term.kind is TermKind.NAME
    found = ((place, sentence.terms[place]) for other in opposites for place in sentence.places.get(other, ()))
    return tuple(sorted(place for place, one in found if (one.kind is TermKind.NAME) == is_name and not _lasts(one)))


@lru_cache(maxsize=MAX_KEPT)
def _opposites(key: str) -> frozenset[str]:
    """The opposites of a lemma; of *opening* those of *open*."""
    bare = key.removesuffix("ing")
    forms = (key, bare, f"{bare}e")
    found = (ANTONYMS.get(one, frozenset()) | OTHER_SIDE.get(one, frozenset()) for one in forms)
    return next((words for words in found if words), frozenset())


def _lasts(term: Term) -> bool:
    """Whether a word is the verb *last*, no opposite of *first*."""
    return term.key == "last" and term.surface.lower() != "last"
