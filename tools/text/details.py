"""Finds the parts of a clause that can be stated as separate claims.

These are the members of a list, details attached to a noun (relative clauses, appositives and participles), and facts
that a noun phrase implies (life dates in brackets, a nationality, the region of a place).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from factloop.tools.text.pieces import (
    AUXILIARIES,
    SUBJECTS,
    Piece,
    Reading,
    auxiliaries_of,
    is_apart,
    is_denied,
    is_past,
    is_plural,
    subject_of,
    without,
)

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_CLOSED = frozenset({"ccomp", "advcl", "relcl", "acl", "pcomp", "csubj", "parataxis", "appos"})
"""Clauses that nothing is extracted from, because their content may be true only in context."""
_TORN = frozenset({"prep", "acl", "npadvmod", "advmod"})
_NOMINAL = frozenset({"NOUN", "PROPN"})
_NO_NAMES = frozenset({"DATE", "CARDINAL", "GPE", "MONEY"})
_DATE = r"(?:\d{1,2} [A-Z][a-z]+ |[A-Z][a-z]+ \d{1,2}, )?\d{3,4}"
_BORN, _DIED = r"(?:born(?: on| in)? |b\. ?)", r"(?:died(?: on| in)? |d\. ?)"
_LIFE = re.compile(
    rf"\((?:{_BORN}?(?P<born>{_DATE})(?: ?[–—-] ?|[,;] ){_DIED}?(?P<died>{_DATE})|{_BORN}(?P<only>{_DATE}))\)"
)

_LISTED = frozenset({"attr", "dobj", "pobj", "oprd", "acomp", "xcomp"})
_BETWEEN = frozenset({"between", "among", "amongst"})
_PLURAL = frozenset({"NNS", "NNPS"})
_FIGURES = frozenset({"TIME", "MONEY", "PERCENT", "QUANTITY", "DATE"})


def is_detail(token: Token, predicate: Token) -> bool:
    """Whether the token heads a detail that can be stated separately about its noun or the subject."""
    if token == predicate or not _is_in_clause(token, predicate):
        return False
    if token.dep_ == "appos":
        return _is_appositive(token)
    if token.dep_ in {"relcl", "acl"} and any(one.i > token.i and one.dep_ in _TORN for one in token.head.rights):
        return False  # the parser split the description of the noun: *a director born in 1899 in Riga*
    if token.dep_ == "relcl":
        return _is_relative(token, predicate)
    if token.dep_ == "acl":
        noun = token.head
        is_of_noun = is_apart(token) and (noun.pos_ == "PROPN" or noun == subject_of(predicate))
        return token.tag_ == "VBN" and (is_of_noun or is_predicative(noun, predicate))
    return is_participle(token, predicate)


def _is_in_clause(token: Token, predicate: Token) -> bool:
    between = []
    for one in token.ancestors:
        if one == predicate:
            break
        between.append(one)
    if any(one.dep_ in _CLOSED or one.pos_ == "VERB" for one in between):
        return False
    first = token.left_edge.i
    return first == 0 or token.doc[first - 1].text not in {"(", "[", '"', "“"}


def is_participle(token: Token, predicate: Token) -> bool:
    return (
        token.dep_ == "advcl"
        and token.tag_ == "VBN"
        and token.head == predicate
        and subject_of(predicate) is not None
        and not any(child.dep_ in {"mark", *SUBJECTS, *AUXILIARIES} or child.tag_ == "WRB" for child in token.children)
        and token.i < predicate.i
    )


def _is_appositive(token: Token) -> bool:
    """Whether the appositive can be stated as *N is ...*. It must directly follow its noun and a comma, agree in
    number, and be a name or have an article. A name after a name does not count: it may be the next list member.
    """
    noun = token.head
    if not is_apart(token) or token.left_edge.i != noun.i + 2 or token.pos_ not in _NOMINAL:
        return False
    if is_plural(noun) != (token.tag_ in _PLURAL) or {token.ent_type_, noun.ent_type_} & _NO_NAMES:
        return False
    if token.pos_ == "PROPN":
        return noun.pos_ == "NOUN" and not token.conjuncts
    if token.conjuncts and token.left_edge.lower_ == noun.left_edge.lower_:
        return False  # *a poet, a painter and*
    return token.left_edge.pos_ in {"DET", "PRON"} and not noun.conjuncts


def is_predicative(noun: Token, predicate: Token) -> bool:
    """Whether the sentence equates a singular subject with this noun, as in *X is a firm* or *X was named a knight*."""
    subject = subject_of(predicate)
    while noun.dep_ == "conj":
        noun = noun.head
    is_one = subject is not None and not is_plural(subject)
    is_said = noun.dep_ in {"attr", "oprd"} and noun.head == predicate
    return is_one and is_said and not any(child.lower_ == "the" for child in noun.children)  # *the only bus that ...*


def _is_relative(token: Token, predicate: Token) -> bool:
    noun = token.head
    pronoun = next((one for one in token.subtree if one.tag_ in {"WP", "WDT", "WP$"}), None)
    is_subject = pronoun is not None and pronoun.dep_ in SUBJECTS and pronoun.head == token
    is_owner = pronoun is not None and pronoun.tag_ == "WP$"
    if not (is_subject or is_owner) or noun.ent_type_ in {"DATE", "CARDINAL", "MONEY"}:
        return False
    finite = next(iter(auxiliaries_of(token)), token)
    if is_subject and finite.tag_ in {"VBZ", "VBP"} and is_plural(noun) != (finite.tag_ == "VBP"):
        return False
    return is_apart(token) or is_predicative(noun, predicate)


def noun_phrase(noun: Token, *, definite: bool = False) -> Piece:
    """Returns the noun with its modifiers, but without clauses. `definite` turns *an album* into *the album*."""
    gone = [
        child
        for child in noun.children
        if child.dep_ in {"relcl", "appos", "acl"} or (definite and child.dep_ in {"conj", "prep"})
    ]
    found = without(noun.subtree, gone)
    while len(found) > 1 and (found[-1].text == "," or found[-1].dep_ == "cc"):
        found.pop()
    if definite and noun.pos_ == "NOUN":
        if found[0].lower_ in {"a", "an"}:
            return ("the", *found[1:])
        if not any(child.dep_ in {"det", "poss"} for child in noun.children):
            return ("the", *found)
    return tuple(found)


def nationality(body: Sequence[Token], predicate: Token, subject: Piece) -> Iterator[Piece]:
    """Yields *X is Danish* for *X is a Danish chemist*."""
    for token in body if predicate.lemma_ == "be" else ():
        if token.dep_ == "amod" and token.ent_type_ == "NORP" and is_predicative(token.head, predicate):
            entity = next(span for span in token.doc.ents if span.start <= token.i < span.end)
            yield (*subject, "was" if is_past(predicate) else "is", *token.doc[entity.start : token.i + 1])


def regions(body: Sequence[Token]) -> Iterator[Piece]:
    """Yields *Graz is in Austria* for *in Graz, Austria*, unless it is part of a list of places."""
    kept = {token.i for token in body}
    runs: list[list[Span]] = []
    for span in body[0].doc.ents:
        is_next = bool(runs) and runs[-1][-1].end + 1 == span.start and span.doc[span.start - 1].text == ","
        if span.label_ == "GPE" and span.root.i in kept:
            runs = [*runs[:-1], [*runs[-1], span]] if is_next else [*runs, [span]]
    for run in runs:
        is_listed = any(token.ent_type_ == "GPE" for token in run[-1].doc[run[-1].end : run[-1].end + 4])
        if run[0].root.dep_ == "pobj" and not is_listed:
            yield from ((*inner, "is in", *outer) for inner, outer in pairwise(run))


def life_dates(predicate: Token, reading: Reading) -> list[Piece]:
    """Returns claims about a person's birth and death, as in *Ana Roth (1901-1975)*, or none for other subjects."""
    subject = subject_of(predicate)
    if subject is None or subject.pos_ != "PROPN":
        return []
    if subject.ent_type_ != "PERSON" and (subject.ent_type_ not in {"", "ORG"} or predicate.lemma_ != "be"):
        return []  # neither the entity type nor, without an entity type, the predicate indicates a person
    found = _LIFE.fullmatch(reading.asides.get(subject.i, "").strip())
    if found is None:
        return []
    name = noun_phrase(subject)
    events = (("was born", found["born"] or found["only"]), ("died", found["died"]))
    return [(*name, f"{verb} {'in' if date.isdigit() else 'on'} {date}") for verb, date in events if date]


def each_listed(body: Sequence[Token], predicate: Token) -> list[Piece]:
    """Repeats the clause for each member of its longest list, or returns the whole clause if no list can be split.

    Only one list is split, because splitting two would claim combinations that the sentence does not state.
    """
    lists = sorted(_lists(body, predicate), key=lambda owned: -len(owned))  # stable: the first of equal length
    if not lists:
        return [tuple(body)]
    owned = lists[0]
    start, end = owned[0][1][0].i, owned[-1][1][-1].i
    start -= predicate.doc[start - 1].lower_ == "both"
    before, after = [one for one in body if one.i < start], [one for one in body if one.i > end]
    first = owned[0][0]
    return [(*before, *_lent(first, member), *own, *after) for member, own in owned]


_Owned = list["tuple[Token, list[Token]]"]


def _lists(body: Sequence[Token], predicate: Token) -> Iterator[_Owned]:
    kept = frozenset(body)
    if any(child.dep_ == "neg" for child in predicate.children) or any(one.lower_ == "respectively" for one in body):
        return
    for head in body:
        is_object = head.dep_ in _LISTED and head.i > predicate.i and _is_reached(head, predicate)
        if not (is_object or (head == predicate and head.dep_ == "appos")):
            continue
        members = (head, *head.conjuncts)
        if len(members) > 1 and _is_told_apart(members, predicate) and (owned := _owned(members, kept)):
            yield owned


def _owned(members: Sequence[Token], kept: frozenset[Token]) -> _Owned:
    """Returns an empty list if the tokens of different members overlap, because the split is then uncertain."""
    owned = [_own(member, members, kept) for member in members]
    if not all(owned):
        return []
    end = owned[-1][-1].i
    shared = [token for token in owned[0] if token.i > end]
    owned[0] = _trimmed([token for token in owned[0] if token.i <= end])
    if any(one[-1].i > other[0].i for one, other in pairwise(owned)):
        return []
    if any(token.dep_ == "relcl" or (token.head == members[0] and token.dep_ in {"appos", "conj"}) for token in shared):
        return []  # it is uncertain to which of them it belongs
    return list(zip(members, owned, strict=True))


def _own(member: Token, members: Sequence[Token], kept: frozenset[Token]) -> list[Token]:
    others = [other for other in members if other != member and member.is_ancestor(other)]
    own = [token for token in without(member.subtree, others) if token in kept]
    return _trimmed([one for one in own if one.head != member or (one.dep_ != "preconj" and one.lower_ != "both")])


def _trimmed(own: list[Token]) -> list[Token]:
    while own and own[-1].lower_ in {"as", "well", ",", ";"}:
        own.pop()
    return own


def _lent(first: Token, member: Token) -> list[Token | str]:
    if member != first and member.tag_ == "VB" == first.tag_:
        return [child for child in first.lefts if child.dep_ == "aux"]
    if member == first or not {member.pos_, first.pos_} <= _NOMINAL:
        return []
    if any(child.dep_ in {"det", "poss", "nummod"} for child in member.lefts):
        return []
    lent: list[Token | str] = []
    for child in first.lefts:
        if child.dep_ == "poss" and member.pos_ == "NOUN":
            lent += child.subtree
        elif child.dep_ == "det" and child.lower_ in {"a", "an"}:
            lent.append("an" if member.left_edge.lower_[:1] in "aeiou" else "a")
    return lent


def _is_reached(head: Token, predicate: Token) -> bool:
    for one in head.ancestors:
        if one == predicate:
            return True
        if one.dep_ in _CLOSED or is_denied(one):
            return False
    return False


def _is_told_apart(members: Sequence[Token], predicate: Token) -> bool:
    head = members[0]
    joined = [child for one in members for child in one.children if child.dep_ == "cc"]
    if not joined or any(one.lower_ not in {"and", "&", "as"} for one in joined):
        return False
    if len({_kind(one) for one in members}) > 1 or _is_one_name(members):
        return False
    if head.dep_ == "pobj":
        further = [one for other in members[1:] for one in other.subtree]
        if any(one.dep_ == "prep" and one.lower_ == head.head.lower_ for one in further):
            return False  # a second clause without its verb: *took X from A and Y from B*
        return _is_of_each(head, predicate) and not any(one.tag_ == "PRP$" for one in further)
    return head.dep_ not in {"attr", "appos"} or _is_said_of_one(members, predicate)


def _kind(token: Token) -> str:
    if token.ent_type_ in _FIGURES:
        return "figure"
    if token.pos_ in _NOMINAL:
        return "noun"
    return "adjective" if token.pos_ == "ADJ" else token.tag_


def _is_of_each(head: Token, predicate: Token) -> bool:
    """Whether the preposition applies to each member, unlike *between* or the *of* in *a mixture of A and B*."""
    preposition, noun = head.head, head.head.head
    if preposition.lower_ in _BETWEEN:
        return False
    if preposition.lower_ != "of" or noun.pos_ not in _NOMINAL:
        return True
    subject = next((child for child in predicate.children if child.dep_ in {"nsubj", "nsubjpass"}), None)
    is_person = subject is not None and (subject.ent_type_ == "PERSON" or subject.lower_ in {"he", "she"})
    return noun.dep_ in {"attr", "appos", "conj", "oprd"} and is_person


def _is_said_of_one(members: Sequence[Token], predicate: Token) -> bool:
    if len({one.ent_type_ == "PERSON" for one in members}) > 1:
        return False
    finite = next((child for child in predicate.children if child.dep_ == "aux"), predicate)
    return finite.lower_ not in {"are", "were"}


def _is_one_name(members: Sequence[Token]) -> bool:
    first, last = members[0], members[-1]
    if any(span.start <= first.i and last.i < span.end for span in first.doc.ents):
        return True
    if len(members) > 2 or last.i != first.i + 2 or any(one.pos_ != "PROPN" for one in members):
        return False
    if first.ent_type_ == last.ent_type_ == "GPE":
        from pycountry import countries  # loads its tables on import

        return countries.get(name=first.doc[first.i : last.i + 1].text) is not None
    return not first.ent_type_ or first.ent_type_ != last.ent_type_
