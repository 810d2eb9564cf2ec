"""What evidence leaves open though it shares words: half of an *and*, a rank, what only a heading names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.linguistics.lexicon import PREPOSITIONS, SUBJECT_PRONOUNS, VERBS
from factloop.tools.verifiers.features import N_CANDIDATES, ClaimComparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.reading import Reading, read_closely
from factloop.tools.verifiers.terms import CONTENT, FIGURES, SentenceTerms, Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import JOINING

MAX_HEADING_TERMS = 8
RANK_REACH = 3
"""Words after a rank in which the noun stands that has it: *the first English woman*."""
MAX_CONTENT_OF_HALVES = 5
"""Most words of content in a claim whose halves must both stand in the evidence: a longer one is put in other words."""
_RANKS = frozenset({"first", "last"})
_NO_RANKS = frozenset({"best", "greatest", "finest", "most"})
"""Superlatives that say little, as praise may be put in any words; and a quantifier."""
_BULLETS = ("-", "*", "•", "–", "·", "|")


def unsaid_half(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The words on one side of *and* where the evidence has none of them: *two brothers and a sister* is not said where
    it has brothers alone."""
    claim, missing = comparison.alignment.claim, set(comparison.missing())
    if len(claim.content) > MAX_CONTENT_OF_HALVES:
        return ()
    for place in [one for one, term in enumerate(claim.terms) if term.key == "and"]:
        for side in (phrase_after(claim, place), _phrase_before(claim, place)):
            words = [one for one in side if claim.terms[one].kind not in FIGURES]
            if words and all(claim.terms[one] in missing and _has_no_partner(comparison, one) for one in words):
                return tuple(claim.terms[one] for one in words)
    return ()


def _has_no_partner(comparison: ClaimComparison, place: int) -> bool:
    alignment = comparison.alignment
    return place not in alignment.pairs or place in alignment.opposed


def phrase_after(claim: Reading, place: int) -> list[int]:
    """The places of content after a word, up to a preposition, a verb, or the end of the clause."""
    return list(_phrase(claim, range(place + 1, len(claim.terms)), place + 1))


def _phrase_before(claim: Reading, place: int) -> list[int]:
    """The places of content before an *and*, back to a preposition, a verb, or the beginning of the clause."""
    return list(_phrase(claim, range(place - 1, -1, -1), place))


def _phrase(claim: Reading, places: range, inside: int) -> Iterator[int]:
    for one in places:
        term = claim.terms[one]
        if term.key in PREPOSITIONS or is_verb(term) or claim.clauses[one] != claim.clauses[inside]:
            return
        if term.kind in CONTENT:
            yield one


def unsaid_rank(comparison: ClaimComparison) -> tuple[Term, ...]:
    """A *first* or a superlative that the evidence has of something else, or not at all: *its first shop* says nothing
    of *the first woman to lead the firm*, nor *an old mill* of *the oldest mill*."""
    claim = comparison.alignment.claim
    for place, term in enumerate(claim.terms):
        noun = _ranked(claim, place)
        if noun is None or claim.is_denied(place):
            continue
        told = [(sentence, one) for sentence in _sentences(comparison) for one in _same_rank(sentence, term)]
        if not any(_is_of_same(comparison, read_closely(sentence), one, noun) for sentence, one in told):
            return (term, claim.terms[noun])
    return ()


def _ranked(claim: Reading, place: int) -> int | None:
    """The place of the noun whose rank a word of the claim tells; None where it tells none."""
    term = claim.terms[place]
    if term.surface.lower() not in _RANKS and (not _is_superlative(term) or term.surface.lower() in _NO_RANKS):
        return None
    following = range(place + 1, min(place + 1 + RANK_REACH, len(claim.terms)))
    after = next((one for one in following if claim.terms[one].kind in CONTENT), None)
    if after is None or is_verb(claim.terms[after]) or claim.terms[after].kind is not TermKind.WORD:
        return None
    return after if claim.clauses[after] == claim.clauses[place] else None


def _is_superlative(term: Term) -> bool:
    """Whether a word is *most*, or a form in *-est* of another: *oldest*, but not *forest*."""
    surface = term.surface.lower()
    return surface == "most" or (surface.endswith("est") and term.kind is TermKind.WORD and term.key != surface)


def _same_rank(sentence: SentenceTerms, term: Term) -> list[int]:
    """The places of a sentence, read closely, that tell this rank."""
    read, is_rank = read_closely(sentence), term.surface.lower() in _RANKS
    words = range(len(read.terms))
    return [one for one in words if (read.terms[one].key == term.key if is_rank else _is_superlative(read.terms[one]))]


def _is_of_same(comparison: ClaimComparison, sentence: Reading, rank: int, noun: int) -> bool:
    """Whether a rank is told of the claim's noun, or in a sentence that has half of the rest of the claim."""
    claim = comparison.alignment.claim
    near = sentence.terms[rank + 1 : rank + 2 + RANK_REACH]
    if any(matches(claim.terms[noun], other) for other in near):
        return True
    rest = [claim.terms[one] for one in claim.content if one != noun]
    held = sum(any(matches(term, other) for other in sentence.terms) for term in rest)
    return 2 * held >= len(rest) + 1


def said_by_headings(comparison: ClaimComparison, places: Sequence[int]) -> bool:
    """Whether the evidence has these places of the claim in headings alone, if at all; a heading may name the subject
    of a claim, and says nothing of it. What a thing merely has, a heading may say: *Free parking*."""
    claim = comparison.alignment.claim
    if not places or not _says_more(claim, places[0]) or len(comparison.candidates) == N_CANDIDATES:
        return False  # of long sources not all sentences that hold a word are known
    telling = [sentence for sentence in _sentences(comparison) if not is_heading(sentence)]
    alignment, missing = comparison.alignment, set(comparison.missing())
    if len(telling) == len(_sentences(comparison)):
        return False

    def is_told(place: int) -> bool:
        partners = alignment.partners.get(place, ())
        sentences = {alignment.sentence.sentences[alignment.sentence.sentence_at(one)] for one in partners}
        if any(sentence in telling for sentence in sentences):
            return True
        term = claim.terms[place]
        held = [one for one in _sentences(comparison) if any(matches(term, other) for other in one.terms)]
        return any(one in telling for one in held) or not (held or partners or term in missing)

    return not any(is_told(place) for place in places)


def _says_more(claim: Reading, place: int) -> bool:
    """Whether a place of the claim is a verb that says more than that something has or offers something."""
    term = claim.terms[place]
    before = claim.terms[place - 1].key if place else ""
    return term.key not in JOINING and (is_verb(term) or before in {"may", "can", "must", "will", "should", "shall"})


def is_heading(sentence: SentenceTerms) -> bool:
    """Whether a short piece of text has no verb, no figure, no denial, and no mark that parts it."""
    terms = sentence.terms
    if len(terms) > MAX_HEADING_TERMS or sentence.text.lstrip().startswith(_BULLETS):
        return False
    if any(term.kind in {*FIGURES, TermKind.NEGATION, TermKind.MARK} for term in terms):
        return False
    return not any(_acts(terms, place) for place in range(len(terms)))


def _acts(terms: Sequence[Term], place: int) -> bool:
    """Whether a word is likely to be a verb: by its form, or a bare one that begins a request or follows a plural."""
    term = terms[place]
    if is_verb(term) or term.key in {"be", "have", "do", "may", "can", "must", "will", "shall", "should"}:
        return True
    before = terms[place - 1].surface.lower() if place else ""
    is_bare = term.key in VERBS and term.surface.lower() == term.key
    return is_bare and (not place or before.endswith("s") or before in SUBJECT_PRONOUNS)


def _sentences(comparison: ClaimComparison) -> tuple[SentenceTerms, ...]:
    """The sentences with the most of the claim, and the best window."""
    return tuple(dict.fromkeys((*comparison.window, *comparison.candidates)))
