"""What of a claim no one place of the evidence says, though nothing there speaks against it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from factloop.tools.linguistics.mentions import GENERIC_NOUNS, TITLES
from factloop.tools.verifiers.checks.currencies import stands_in_others_alone
from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.nearest import refused_by_nearest
from factloop.tools.verifiers.reading import Reading, read_closely
from factloop.tools.verifiers.terms import FIGURES, SentenceTerms, Term, TermKind
from factloop.tools.verifiers.unsaid import phrase_after, said_by_headings, unsaid_half, unsaid_rank
from factloop.tools.verifiers.unsaid_steps import unsaid_step
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import MAKING_LIMITS

ESSENTIAL = FIGURES | {TermKind.NAME}
_TELLING_NOTHING = GENERIC_NOUNS | TITLES


def find_gap(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The words that stand nowhere, or in no one document, where agreement of the others is no evidence; else none."""
    return next((gap for find in _KINDS if (gap := find(comparison))), ())


def _absent(comparison: ClaimComparison) -> tuple[Term, ...]:
    """Names and figures that stand nowhere: whatever else agrees, of these the evidence says nothing."""
    names = _absent_names(comparison)
    return names if comparison.has_all_figures else (*names, *comparison.missing(FIGURES))


def _in_other_currency(comparison: ClaimComparison) -> tuple[Term, ...]:
    """A sum of money that the evidence has in other currencies alone, though not in its best window: *$149*."""
    claim = comparison.alignment.claim
    figures = [place for place in claim.of_kind(TermKind.NUMBER) if place not in comparison.alignment.pairs]
    sentences = [read_closely(one) for one in comparison.candidates] if figures else []
    found = (place for place in figures if stands_in_others_alone(claim, place, sentences))
    return tuple(claim.terms[place] for place in found)


def _absent_names(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The names that stand nowhere, less words of one whose others do: *Barack* where the evidence says *Obama*."""
    missing = comparison.missing(frozenset({TermKind.NAME}))
    absent = {term.key for term in missing}
    names = comparison.alignment.claim.names() if absent else []
    known = {term.key for name in names if _stands_in_part(name, absent, comparison) for term in name}
    return tuple(term for term in missing if term.key not in known)


def _stands_in_part(name: Sequence[Term], absent: Container[str], comparison: ClaimComparison) -> bool:
    """Whether telling words of a name stand in the evidence, and nowhere beside a word of another name: *Isambard* is
    absent where the evidence says *Thomas Telford*."""
    held = {term.key for term in name if term.key not in absent} - GENERIC_NOUNS - TITLES
    return bool(held) and not _are_of_others(held, comparison.candidates, comparison)


def _are_of_others(held: Container[str], sentences: Iterable[SentenceTerms], comparison: ClaimComparison) -> bool:
    """Whether words of a name stand beside a word of another name: *Konrad Marwen* is not *Ottilie*, *O. Marwen* is."""
    claimed = {form for term in comparison.terms for form in (term.key, term.key[:1])}
    beside = {
        other.key
        for sentence in sentences
        for place, term in enumerate(sentence.terms)
        if term.key in held and term.kind is TermKind.NAME
        for other in (*sentence.terms[max(0, place - 1) : place], *sentence.terms[place + 1 : place + 2])
        if other.kind is TermKind.NAME
    }
    return not beside <= claimed | TITLES


def _unsaid(comparison: ClaimComparison) -> tuple[Term, ...]:
    """All of the ordinary words: evidence that only names the subject says nothing of it. A figure that is said of it
    does, but none of its name: *Lamp 1*.

    Or all from the verb on, where they stand nowhere: *tower* says nothing of *The tower has a swimming pool*, nor of
    *The tower is haunted*. Or where headings alone have them: *Termination of the lease*.
    """
    alignment = comparison.alignment
    said = _from_the_verb_on(alignment.claim)
    if any(term.kind in FIGURES for term in said or comparison.terms):
        return ()
    words = alignment.claim.of_kind(TermKind.WORD)
    if all(place not in alignment.pairs for place in words):
        return tuple(alignment.claim.terms[place] for place in words)
    if said and set(said) <= set(comparison.missing()):
        return said
    return said if said_by_headings(comparison, _places_from_the_verb_on(alignment.claim)) else ()


def _unsaid_agent(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The agent after a passive and *by*, or the state after *while*, where the evidence has none of its words: such a
    phrase is the point of a claim. *Designed by a woman* is not said where the evidence has no woman."""
    alignment = comparison.alignment
    claim, missing = alignment.claim, set(comparison.missing())
    for place in range(len(claim.terms) - 1):
        if _opens_agent(claim, place) or _opens_state(claim, place):
            said = phrase_after(claim, place)
            if said and all(claim.terms[one] in missing and one not in alignment.pairs for one in said):
                return tuple(claim.terms[one] for one in said)
    return ()


def _opens_agent(claim: Reading, place: int) -> bool:
    """Whether *by* stands right after a verb and before a noun: not *by hand-feeding them* and *, by all accounts*."""
    terms, clauses = claim.terms, claim.clauses
    follows = place > 0 and clauses[place - 1] == clauses[place] and is_verb(terms[place - 1])
    return follows and terms[place].surface.lower() == "by" and not terms[place + 1].surface.endswith("ing")


def _opens_state(claim: Reading, place: int) -> bool:
    """Whether *while* ends the claim without a verb of its own: *while drunk*."""
    return claim.terms[place].key == "while" and place > 0 and not any(map(is_verb, claim.terms[place + 1 :]))


def _elsewhere(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The one ordinary word that is said of a subject and its figure, where sentences with another one have the word.

    *She died in May 1958* and *lecturer from 1930 to 1946* do not say that she died in 1946.
    """
    alignment = comparison.alignment
    claim, evidence = alignment.claim, alignment.sentence
    said = _places_from_the_verb_on(claim)
    words = [place for place in said if claim.terms[place].kind is TermKind.WORD]
    figures = claim.of_kind(*FIGURES)
    if len(words) != 1 or len(figures) != 1 or words[0] not in alignment.pairs or figures[0] not in alignment.pairs:
        return ()
    (word,), (figure,) = words, figures
    apart = {evidence.sentence_at(place) for place in alignment.partners[word]}
    if apart & {evidence.sentence_at(place) for place in alignment.partners[figure]}:
        return ()
    others = evidence.of_kind(claim.terms[figure].kind)
    has_other = any(evidence.sentence_at(place) in apart for place in others)
    return (claim.terms[word], claim.terms[figure]) if has_other else ()


def _from_the_verb_on(claim: Reading) -> tuple[Term, ...]:
    return tuple(claim.terms[place] for place in _places_from_the_verb_on(claim))


def _places_from_the_verb_on(claim: Reading) -> list[int]:
    """The places of a claim's content from its first verb on."""
    return [place for place in claim.content if place >= claim.first_verb]


def _scattered(comparison: ClaimComparison) -> tuple[Term, ...]:
    """Names, figures and the last word, mostly what is said of them, that stand only in different documents; or the
    last word, where those that hold it hold less of the claim than another."""
    last = _last(comparison)
    asked = [term for term in comparison.terms if term.kind in ESSENTIAL or term is last]
    claimed = comparison.alignment.claim.names()
    names = [[term.key for term in name if term.key not in _TELLING_NOTHING] for name in claimed]
    if not any(_stand_in(document, asked, names, comparison) for document in comparison.by_document):
        return tuple(asked)
    return () if comparison.stands_with_most(last) else (comparison.terms[0], last)


def _last(comparison: ClaimComparison) -> Term:
    """The last content word, but for one that makes a figure a limit: *13 or newer*."""
    claim, terms = comparison.alignment.claim, comparison.terms
    ends = [term.key for term in claim.terms[-2:]] == ["or", terms[-1].key]
    return terms[-2] if ends and len(terms) > 1 and claim.terms[-1].surface.lower() in MAKING_LIMITS else terms[-1]


def _stand_in(
    document: int, asked: Sequence[Term], names: Sequence[Sequence[str]], comparison: ClaimComparison
) -> bool:
    """Whether a document holds these terms. Of a name its last telling word is enough: *Marwen* is *Ottilie Marwen*
    unless the document speaks of another Marwen."""
    numbered = zip(comparison.candidates, comparison.documents_of, strict=True)
    own = [one for one, number in numbered if number == document]
    short = [name for name in names if len(name) > 1 and not _are_of_others({name[-1]}, own, comparison)]
    spared = {key for name in short for key in name[:-1]}
    return comparison.stand_in(document, (term for term in asked if term.key not in spared))


_KINDS = (
    _absent,
    _in_other_currency,
    _unsaid,
    _unsaid_agent,
    unsaid_step,
    unsaid_half,
    unsaid_rank,
    _elsewhere,
    _scattered,
    refused_by_nearest,
)
