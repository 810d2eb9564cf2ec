"""Who did what: agent and patient exchanged, another agent."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.comparisons import NOUNS, than_place
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import CONVERSES, MUTUAL, MUTUAL_LINKS

_OBJECT_REACH = 3
"""Words after a verb in which its object stands."""
_PASSIVE_REACH = 5
"""Words before "by" in which the verb of a passive stands: "was given three months' notice by"."""


def exchanged_roles(alignment: Alignment) -> Iterator[Mismatch]:
    """What stands before the verb of the claim stands after it in the sentence, and what stands after it before."""
    claim, sentence = alignment.claim, alignment.sentence
    verb = _verb_group(claim)
    sides = _sides_of_verb(claim, verb) if verb is not None else None
    if verb is None or sides is None or any(side not in alignment.pairs for side in sides):
        return
    left, right = (alignment.pairs[side] for side in sides)
    if sentence.clauses[left] != sentence.clauses[right] and not _is_antecedent(sentence, *sorted((left, right))):
        return
    between = range(min(left, right) + 1, max(left, right))
    acts = [alignment.pairs[place] for place in verb if alignment.pairs.get(place) in between]
    if not acts or _is_mutual(claim, verb, sides[1]):
        return
    turned = _is_passive(claim) != any(_stands_before_by(sentence, act) for act in acts)
    if (left > right) != (turned != _are_converse(alignment, verb, between)):
        yield Mismatch("sides", sides, (left, right), excludes=True)


def _is_antecedent(sentence: Reading, name: int, other: int) -> bool:
    """Whether a name is the subject of the clause in which another stands: *Oliveira, who took over from Whitlock*."""
    while sentence.terms[name].kind is TermKind.NAME and name + 1 < other:
        name += 1
    return sentence.words[name] in lexicon.RELATIVES and sentence.clauses[name] == sentence.clauses[other]


def converse_deeds(alignment: Alignment) -> Iterator[Mismatch]:
    """*Lost the case* where the sentence says *won the case*, of one subject: converse verbs, with the same sides."""
    claim, sentence = alignment.claim, alignment.sentence
    for place, other in sorted(alignment.pairs.items()):
        if (
            sentence.terms[other].key not in CONVERSES.get(claim.terms[place].key, frozenset())
            or not place
            or not other
        ):
            continue
        same_subject = alignment.pairs.get(place - 1) == other - 1
        after = [
            one for one in range(place + 1, min(place + 1 + _OBJECT_REACH, len(claim.terms))) if one in alignment.pairs
        ]
        is_same_object = bool(after) and 0 < alignment.pairs[after[0]] - other <= _OBJECT_REACH
        between = [term.key for term in (*claim.terms[place + 1 : place + 3], *sentence.terms[other + 1 : other + 3])]
        if same_subject and is_same_object and lexicon.PREPOSITIONS.isdisjoint(between):
            yield Mismatch("opposite", (place,), (other,), excludes=claim.is_denied(place) == sentence.is_denied(other))


def other_agents(alignment: Alignment) -> Iterator[Mismatch]:
    """Another name does what the claim says of a name that stands in another clause."""
    claim, sentence = alignment.claim, alignment.sentence
    verb = _verb_group(claim)
    if verb is None or than_place(claim) is not None or any(claim.terms[place].key == "be" for place in verb):
        return
    deed = next((one for one in reversed(verb) if one in alignment.pairs and one not in alignment.opposed), None)
    name = [one for one in _first_name(claim, verb[0]) if one in alignment.pairs]
    if deed is None or not name:
        return
    acts = alignment.pairs[deed]
    clause = sentence.clauses[acts]
    if any(clause in alignment.clauses_of(one) for one in name):
        return
    strangers = [
        place
        for place in sentence.of_kind(TermKind.NAME)
        if sentence.clauses[place] == clause and place not in alignment.paired
    ]
    if strangers and (strangers[0] > acts) == _is_passive(sentence, clause):
        yield Mismatch("person", tuple(name), (strangers[0],))


def _verb_group(reading: Reading) -> range | None:
    """The places of the first verb with its auxiliaries: "was bought", "has to give"."""
    terms = reading.terms
    first = next((place for place, term in enumerate(terms) if place and is_verb(term)), None)
    if first is None:
        return None
    end = first + 1
    while end < len(terms):
        is_infinitive = terms[end].key == "to" and end + 1 < len(terms) and terms[end + 1].key in lexicon.VERBS
        goes_on = is_verb(terms[end]) or terms[end].key in {"be", "not"} or terms[end].surface.endswith("ly")
        if not (goes_on or is_infinitive or terms[end - 1].key == "to"):
            break
        end += 1
    return range(first, end)


def _sides_of_verb(claim: Reading, verb: range) -> tuple[int, int] | None:
    """The nouns on either side of a verb; None for a mere "is", and for a passive without "by"."""
    has_be = any(claim.terms[place].key == "be" for place in verb)
    if has_be and not _is_passive(claim):
        return None
    before = (one for one in range(verb[0] - 1, -1, -1) if claim.terms[one].kind in NOUNS)
    left = next((one for one in before if not claim.terms[one].surface.endswith("ly")), None)
    if left is None:
        return None
    right = _noun_after(claim, verb[-1], claim.terms[left].kind)
    return None if right is None else (left, right)


def _noun_after(claim: Reading, verb: int, kind: TermKind) -> int | None:
    """The first word of a kind after a verb or "by", in its clause; of a name also after "to" and "from"."""
    links = {"by", "to", "from"} if kind is TermKind.NAME else {"by"}
    for place in range(verb + 1, len(claim.terms)):
        term = claim.terms[place]
        if claim.clauses[place] != claim.clauses[verb]:
            return None
        if term.kind is kind:
            return place
        following = claim.terms[place + 1 : place + 2]
        is_particle = place == verb + 1 and any(one.key in links for one in following)
        if term.key in lexicon.PREPOSITIONS and term.key not in links and not is_particle:
            return None
    return None


def _is_passive(reading: Reading, clause: int | None = None) -> bool:
    """Whether "by" stands soon after a verb."""
    for place, term in enumerate(reading.terms):
        if term.surface.lower() == "by" and clause in {None, reading.clauses[place]}:
            before = reading.terms[max(0, place - _PASSIVE_REACH) : place]
            if any(is_verb(one) and one.key not in {"be", "have", "do"} for one in before):
                return True
    return False


def _stands_before_by(reading: Reading, verb: int) -> bool:
    """Whether this verb is the passive one: "was designed by", not "was asked by her to design"."""
    after = range(verb + 1, min(verb + 1 + _PASSIVE_REACH, len(reading.terms)))
    in_clause = (reading.terms[place] for place in after if reading.clauses[place] == reading.clauses[verb])
    return any(term.surface.lower() == "by" for term in in_clause)


def _are_converse(alignment: Alignment, verb: range, between: range) -> bool:
    ours = {other for place in verb for other in CONVERSES.get(alignment.claim.terms[place].key, frozenset())}
    return any(alignment.sentence.terms[place].key in ours for place in between)


def _is_mutual(claim: Reading, verb: range, right: int) -> bool:
    """Whether what the claim says of one side is true of the other: *married*, *sat next to*."""
    keys = {claim.terms[place].key for place in range(verb[0], right)}
    return claim.terms[verb[-1]].key in MUTUAL or not keys.isdisjoint(MUTUAL_LINKS)


def _first_name(reading: Reading, end: int) -> range:
    """The places of the first name before `end`, which may be of several words."""
    first = next((place for place in range(end) if reading.terms[place].kind is TermKind.NAME), end)
    last = first
    while last < end and reading.terms[last].kind is TermKind.NAME:
        last += 1
    return range(first, last)
