"""Splits a sentence into claims by its dependency parse. Each claim is a complete English sentence.

Each of several coordinated predicates becomes a claim with the same subject. Relative clauses, appositives and
participles become sentences about their noun, and each member of a list gets its own claim. Parts that apply to several
claims (an opening phrase, a condition, an auxiliary) are repeated in each. Unclear parses are not split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from factloop.tools.text.details import (
    each_listed,
    is_detail,
    is_participle,
    is_predicative,
    life_dates,
    nationality,
    noun_phrase,
    regions,
)
from factloop.tools.text.pieces import (
    Piece,
    Reading,
    as_sentence,
    auxiliaries_of,
    covers,
    finite_tag,
    is_apart,
    is_denied,
    is_past,
    is_plural,
    read,
    render,
    subject_of,
    without,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MAX_CLAIMS = 24
"""Maximum number of claims in a sentence. A sentence with more is not split."""

_COMPLEMENTS = frozenset({"dobj", "attr", "acomp", "oprd", "xcomp", "ccomp", "agent"})
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_CONDITIONS = frozenset({"if", "unless"})
_JOINING = frozenset({"cc", "punct", "conj"})


@dataclass(frozen=True, slots=True)
class _Shared:
    opening: Piece = ()
    subject: Piece = ()
    auxiliaries: Piece = ()


def statements_of(text: str, nlp: Language) -> list[str]:
    """Splits the text at its semicolons if every part is a complete sentence."""
    parts = [part.strip() for part in text.split(";")]
    if not 1 < len(parts) <= MAX_CLAIMS or not all(
        part and _are_statements(_roots(read(part, nlp).doc)) for part in parts
    ):
        return [text]
    return [as_sentence(part) for part in parts]


def split_pieces(reading: Reading) -> tuple[list[Piece], Mapping[int, str]]:
    """Splits a sentence into claims, as pieces of tokens and words. There are none if the sentence should not be split.

    The second result maps the tokens of titles and asides to their full text.
    """
    roots = _roots(reading.doc)
    if not _are_statements(roots) or reading.doc[-1].text == "?":
        return [], reading.spelt()
    lives = {root.i: life_dates(root, reading) for root in roots}
    said = [piece for root in roots for piece in (*lives[root.i], *_claims(root, _Shared()))]
    spelt = reading.spelt(but={subject.i for root in roots if lives[root.i] and (subject := subject_of(root))})
    found: dict[str, Piece] = {}
    for piece in said:
        found.setdefault(render(piece, spelt), piece)
    pieces = list(found.values())
    is_split = 1 < len(pieces) <= MAX_CLAIMS and covers(pieces, reading.doc) and all(map(_is_whole, found))
    return (pieces, spelt) if is_split else ([], reading.spelt())


def _roots(doc: Doc) -> list[Token]:
    return [token for token in doc if token.head == token]


def _are_statements(roots: Sequence[Token]) -> bool:
    return bool(roots) and all(subject_of(root) is not None and finite_tag(root) in _FINITE for root in roots)


def _is_whole(claim: str) -> bool:
    return claim.count('"') % 2 == 0 and claim.count("“") == claim.count("”") and claim.count("(") == claim.count(")")


def _claims(predicate: Token, shared: _Shared) -> Iterator[Piece]:
    further = _further(predicate)
    details = [] if is_denied(predicate) else [one for one in predicate.subtree if is_detail(one, predicate)]
    own = subject_of(predicate)
    body = without(predicate.subtree, [*further, *details])
    if own is None:
        body = [token for token in body if token.tag_ not in {"WP", "WDT"} or token.head != predicate]
    start: Piece = shared.opening if own is not None else (*shared.opening, *shared.subject, *shared.auxiliaries)
    for variant in each_listed(body, predicate):
        for said in _each_setting(variant, predicate):
            yield (*start, *said)
    subject: Piece = shared.subject if own is None else noun_phrase(own)
    yield from nationality(body, predicate, subject)
    yield from regions(body)
    for detail in details:
        yield from _claims_of_detail(detail, predicate, subject)
    for other in further:
        yield from _claims(other, _passed_on(predicate, other, replace(shared, subject=subject)))


def _each_setting(piece: Piece, predicate: Token) -> list[Piece]:
    if predicate.tag_ != "VBN" or _COMPLEMENTS & {child.dep_ for child in predicate.children}:
        return [piece]
    settings = [child for child in predicate.rights if child.dep_ == "prep"]
    times = [one for one in settings if any(t.ent_type_ == "DATE" for t in one.children)]
    places = [one for one in settings if any(t.ent_type_ in {"GPE", "LOC", "FAC"} for t in one.children)]
    if len(times) != 1 or len(places) != 1:
        return [piece]
    return [
        tuple(one for one in piece if isinstance(one, str) or not any(t == one or t.is_ancestor(one) for t in left_out))
        for left_out in (places, times)
    ]


def _further(predicate: Token) -> list[Token]:
    """Returns the predicates that are joined to this one by *and* or *but* and can be stated separately."""
    found = [child for child in predicate.children if child.dep_ == "conj" and child.pos_ in {"VERB", "AUX"}]
    joined = [child for child in predicate.children if child.dep_ == "cc"]
    joined += [child for other in found for child in other.children if child.dep_ == "cc"]
    if any(child.lower_ not in {"and", "but", "&"} for child in joined):
        return []
    bare = [other for other in _chain(found) if subject_of(other) is None]
    behind = [child for other in bare for child in other.rights if child.dep_ not in _JOINING]
    if behind and all(child.dep_ in _JOINING for child in predicate.rights):
        return []  # in *closes and opens the valve*, it is uncertain what is closed
    if any(word.lower_ in _CONDITIONS for child in behind for word in child.children):
        return []
    return found if all(_stands_alone(other.head, other) for other in _chain(found)) else []


def _chain(predicates: Sequence[Token]) -> Iterator[Token]:
    for one in predicates:
        yield one
        yield from _chain([child for child in one.children if child.dep_ == "conj" and child.pos_ in {"VERB", "AUX"}])


def _stands_alone(first: Token, other: Token) -> bool:
    """Whether the subject and tense of `other` are certain. After *said that ...*, there are two possible subjects."""
    if not other.is_alpha:
        return False
    joint = other.doc[other.left_edge.i - 1]
    if joint.dep_ != "cc" and joint.text not in {",", ";"}:
        return False
    own = subject_of(other)
    if own is not None:
        return own.i < other.i and not any(child.dep_ == "mark" for child in other.children)
    between = [token for token in first.subtree if first.i < token.i < other.i]
    if any((token.dep_ == "ccomp" and token.head == first) or token.tag_ == "WRB" for token in between):
        return False
    if other.tag_ in _FINITE or auxiliaries_of(other):
        return True
    if other.tag_ == "VB" and any(
        child.dep_ == "punct" and child.i > first.i for child in first.children if child.i < other.i
    ):
        return False  # *it may seem small, but keep in mind ...*
    return bool(auxiliaries_of(first) or first.pos_ == "AUX") and not is_denied(first)


def _passed_on(first: Token, other: Token, shared: _Shared) -> _Shared:
    own = subject_of(other)
    opening = _opening(first, other)
    if own is not None:
        return _Shared(opening=opening)
    auxiliaries: Piece = ()
    if not auxiliaries_of(other) and other.tag_ in {"VB", "VBN", "VBG"}:
        if first.tag_ == other.tag_:
            auxiliaries = tuple(auxiliaries_of(first))
        elif first.pos_ == "AUX":
            auxiliaries = (*auxiliaries_of(first), first)
    return replace(shared, opening=opening, auxiliaries=auxiliaries)


def _opening(first: Token, other: Token) -> Piece:
    """Returns the text before the subject of `first` that also applies to `other`.

    A condition, concession or source applies to every clause that follows. A time applies only to a clause with the
    same subject and no time of its own.
    """
    subject = subject_of(first)
    if subject is None:
        return ()
    found: list[Token | str] = []
    has_time = any(token.ent_type_ == "DATE" for token in other.subtree)
    for child in first.lefts:
        if child.i > subject.left_edge.i or child.dep_ not in {"prep", "advcl", "advmod", "npadvmod"}:
            continue
        holds_always = child.tag_ == "VBG" or any(one.dep_ == "mark" for one in child.children)
        is_time = any(token.ent_type_ == "DATE" for token in child.subtree)
        is_free = is_time and (has_time or finite_tag(other) != finite_tag(first))
        if holds_always or (subject_of(other) is None and not is_free and not is_participle(child, first)):
            found += [*child.subtree, ","] if is_apart(child) or len(list(child.subtree)) > 1 else list(child.subtree)
    return tuple(found)


def _claims_of_detail(detail: Token, predicate: Token, subject: Piece) -> Iterator[Piece]:
    noun = detail.head
    is_of_subject = detail.dep_ == "advcl" or (detail.dep_ != "appos" and is_predicative(noun, predicate))
    about = subject if is_of_subject else noun_phrase(noun, definite=True)
    is_many = is_plural(subject_of(predicate) or noun) if is_of_subject else is_plural(noun)
    is_event = any(token.ent_type_ == "DATE" or token.dep_ == "agent" for token in detail.subtree)
    is_then = is_past(predicate) or (detail.tag_ == "VBN" and is_event)
    copula = ("were" if is_many else "was") if is_then else ("are" if is_many else "is")
    if detail.dep_ == "appos":
        body = without(detail.subtree, [one for one in detail.subtree if is_detail(one, detail)])
        for variant in each_listed(body, detail):
            yield (*about, copula, *variant)
        for inner in (one for one in detail.subtree if is_detail(one, detail)):
            yield from _claims_of_detail(inner, predicate, about)
    elif detail.dep_ == "relcl":
        whose = {one.i for one in detail.subtree if one.tag_ == "WP$"}
        for piece in _claims(detail, _Shared(subject=about)):
            said = ((*about, "'s") if not isinstance(one, str) and one.i in whose else (one,) for one in piece)
            yield tuple(chain.from_iterable(said))
    else:
        yield from _claims(detail, _Shared(subject=about, auxiliaries=(copula,)))
