"""Finds what pronouns and short names in a sentence refer to, and splits the sentence into self-contained claims.

A pronoun is resolved to the subject of the previous sentence if it agrees with nothing else there. If its meaning is
uncertain, it is kept and the claim is marked as open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from factloop.tools.text.markup import plain_text
from factloop.tools.text.pieces import Piece, Reading, is_plural, read, render, subject_of, without
from factloop.tools.text.pipeline import parsed_part
from factloop.tools.text.splitting import split_pieces, statements_of

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Token

N_BEFORE = 6
"""Number of previous sentences to read, in addition to the first one, which usually names the topic."""
LONGEST_PHRASE = 60
"""Maximum number of tokens in a name, including its clauses and appositives."""
LONGEST_NAME = 9

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_CENTRAL = frozenset({"nsubj", "nsubjpass", "dobj", "dative"})
_NO_THING = frozenset({"DATE", "TIME", "CARDINAL", "ORDINAL", "MONEY", "PERCENT", "QUANTITY", "LANGUAGE"})
_THINGS = frozenset({"ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW"})
_NOMINAL = frozenset({"NOUN", "PROPN"})
Kind = Literal["person", "thing", "either"]


@dataclass(frozen=True, slots=True)
class ReadClaim:
    text: str
    self_contained: str
    """The claim, with full names in place of pronouns and short names whose meaning is certain."""
    is_open: bool
    """Whether the claim contains a pronoun whose meaning is uncertain."""


@dataclass(frozen=True, slots=True)
class _Referent:
    text: str
    kind: Kind
    is_many: bool
    is_name: bool
    role: str
    place: int
    gender: str = ""

    def agrees(self, pronoun: Token) -> bool:
        gender = "".join(pronoun.morph.get("Gender", []))
        if not gender:
            return self.is_many or (self.is_name and self.kind == "thing")
        if self.is_many:
            return False
        if gender == "Neut":
            return not self.gender
        return self.kind != "thing" and self.gender in {"", gender}


@dataclass(frozen=True, slots=True)
class _Before:
    topic: _Referent | None = None
    """The subject of the first sentence, or what the question asks about."""
    subject: _Referent | None = None
    others: tuple[_Referent, ...] = ()
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Maps last words of names, and nouns that describe a name, to full names."""
    is_unclear: bool = False


@dataclass(frozen=True, slots=True)
class _Resolved:
    meant: Mapping[int, tuple[str, int | None]]
    """Maps each token to the name of its referent, and to the referent's token if that is in the same sentence."""
    open: Mapping[int, frozenset[int]]
    """Maps ambiguous pronouns to the tokens of possible referents in the same sentence."""


def read_claims(sentence: str, before: Sequence[str], prompt: str | None, nlp: Language) -> list[ReadClaim]:
    """Returns the claims in a sentence, using the sentences `before` it (oldest first) to resolve pronouns.

    Only the first sentence and the last few sentences in `before` are used. A sentence that is too long to parse
    becomes a single claim, as written.
    """
    context = _context(before, prompt, nlp)
    found = []
    for text in statements_of(plain_text(sentence), nlp):
        reading = read(text, nlp)
        resolved = _resolve(reading, context)
        pieces, spelt = split_pieces(reading)
        is_whole = parsed_part(text) == text
        if is_whole and pieces and not any(_is_torn(piece, resolved) for piece in pieces):
            found += [_claim(piece, spelt, resolved) for piece in pieces]
        else:
            whole = _claim(tuple(reading.doc), spelt, resolved)
            as_written = whole.self_contained if is_whole and whole.self_contained != whole.text else text
            found.append(replace(whole, text=text, self_contained=as_written))
        context = _after(reading, resolved, context)
    return found


def _is_torn(piece: Piece, resolved: _Resolved) -> bool:
    places = {one.i for one in piece if not isinstance(one, str)}
    return any(place in places and rivals and not rivals & places for place, rivals in resolved.open.items())


def _claim(piece: Piece, spelt: Mapping[int, str], resolved: _Resolved) -> ReadClaim:
    places = {one.i for one in piece if not isinstance(one, str)}
    named: dict[int, str] = {}
    known: set[str] = set()
    for one in piece:
        if isinstance(one, str) or one.i not in resolved.meant:
            continue
        name, antecedent = resolved.meant[one.i]
        if name not in known and (antecedent is None or antecedent not in places):
            named |= {child.i: "" for child in one.children if child.dep_ == "det"}
            named[one.i] = name if one.tag_ != "PRP$" else f"{name}'" if name.endswith("s") else f"{name}'s"
        known.add(name)
    is_open = any(place in places and not rivals & places for place, rivals in resolved.open.items())
    return ReadClaim(render(piece, spelt), render(piece, {**spelt, **named}), is_open)


def _context(before: Sequence[str], prompt: str | None, nlp: Language) -> _Before:
    context = _of_prompt(prompt, nlp)
    for sentence in before if len(before) <= N_BEFORE + 1 else (before[0], *before[-N_BEFORE:]):
        reading = read(plain_text(sentence), nlp)
        context = _after(reading, _resolve(reading, context), context)
    return context


def _of_prompt(prompt: str | None, nlp: Language) -> _Before:
    named = [] if not prompt else [one for one in _referents(read(plain_text(prompt), nlp)) if one.is_name]
    names = _known_names(named, {})
    if len({one.text for one in named}) != 1:
        return _Before(names=names)
    topic = replace(named[0], role="")
    return _Before(topic, topic, (), names)


def _after(reading: Reading, resolved: _Resolved, context: _Before) -> _Before:
    found = _referents(reading)
    token = next((subject_of(one) for one in reading.doc if one.head == one), None)
    subject: _Referent | None = None
    if token is not None and token.i in resolved.meant:
        name, gender = resolved.meant[token.i][0], "".join(token.morph.get("Gender", [])).replace("Neut", "")
        known = (one for one in (context.subject, context.topic, *context.others) if one and one.text == name)
        subject = next(known, _Referent(name, "either", False, True, "", 0))
        subject = replace(subject, gender=subject.gender or gender)
    elif token is not None:
        subject = next((one for one in found if one.place == token.i), None)
        if subject is None or not subject.is_name:  # *the oldest justice was William O. Douglas*
            subject = next(_told(token, reading), subject)
    topic = context.topic or subject
    if topic is not None and subject is not None and topic.text == subject.text:
        topic = subject
    at = -1 if token is None else token.i
    said = set(subject.text.split()) if subject else set()
    others = tuple(one for one in found if one.place != at and not set(one.text.split()) <= said)
    names = _known_names(found, context.names)
    if subject is not None and subject.is_name:
        for one in reading.doc:
            if one.dep_ == "attr" and one.head.dep_ == "ROOT" and one.tag_ == "NN":
                names[one.lower_] = tuple(dict.fromkeys((*names.get(one.lower_, ()), subject.text)))
    return _Before(topic, subject, others, names, is_unclear=at in resolved.open)


def _told(subject: Token, reading: Reading) -> Iterator[_Referent]:
    """Yields names that the sentence equates with its subject, as in *the oldest justice was William O. Douglas*."""
    for token in subject.head.rights:
        is_definite = token.pos_ == "PROPN" or any(child.lower_ == "the" for child in token.children)
        if token.dep_ == "attr" and is_definite and subject.head.lemma_ == "be" and (name := _name(token, reading)):
            yield _Referent(name, _kind(token), is_plural(token), token.pos_ == "PROPN", "nsubj", token.i)


def _known_names(found: Sequence[_Referent], known: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    names = dict(known)
    for one in found:
        words = one.text.split()
        if one.is_name and len(words) > 1 and not one.is_many:
            names[words[-1].lower()] = tuple(dict.fromkeys((*names.get(words[-1].lower(), ()), one.text)))
    return names


@lru_cache(maxsize=64)
def _referents(reading: Reading) -> tuple[_Referent, ...]:
    found = []
    for token in reading.doc:
        is_part = token.dep_ in {"compound", "attr", "npadvmod", "nmod", "amod"} or token.ent_type_ in _NO_THING
        text = "" if is_part or token.pos_ not in _NOMINAL else _name(token, reading)
        if text:
            is_name = token.pos_ == "PROPN"
            found.append(_Referent(text, _kind(token), is_plural(token), is_name, _role(token), token.i))
    return tuple(found)


def _role(token: Token) -> str:
    while token.dep_ == "conj":
        token = token.head
    return str(token.dep_)


def _name(token: Token, reading: Reading) -> str:
    gone = [child for child in token.children if child.dep_ in {"relcl", "appos", "acl", "conj", "cc", "case"}]
    if token.dep_ in _SUBJECTS and any(child.dep_ == "conj" for child in token.children):
        gone = [child for child in token.children if child.dep_ in {"relcl", "appos", "acl"}]
    if token.pos_ == "PROPN":
        gone += [child for child in token.rights if child.dep_ == "prep" and child.lower_ != "of"]
    if token.right_edge.i - token.left_edge.i >= LONGEST_PHRASE:
        return ""  # checked before examining the subtree, because a text without full stops may parse as one noun
    kept = without(token.subtree, gone)
    while kept and kept[-1].is_punct:
        kept.pop()
    if not kept or len(kept) > LONGEST_NAME or any(one.tag_ in {"PRP$", "PRP"} for one in kept):
        return ""
    text = "".join(reading.titles.get(one.i, one.text) + one.whitespace_ for one in kept).strip()
    return text[:1].lower() + text[1:] if kept[0].i == 0 and kept[0].pos_ in {"DET", "ADJ", "NOUN"} else text


def _kind(token: Token) -> Kind:
    """Returns `either` for one-word names, which the pipeline often misclassifies."""
    is_single = not any(child.dep_ == "compound" for child in token.lefts)
    if token.ent_type_ == "PERSON":
        return "either" if is_single else "person"
    return "thing" if token.ent_type_ in _THINGS and not (token.ent_type_ == "ORG" and is_single) else "either"


def _resolve(reading: Reading, context: _Before) -> _Resolved:
    meant: dict[int, tuple[str, int | None]] = {}
    open_: dict[int, frozenset[int]] = {}
    own = _referents(reading)
    earlier: dict[str, int] = {}
    for token in reading.doc:
        if not _is_personal(token):
            full = _full_name(token, context)
            if full is not None:
                meant[token.i] = (full, None)
            elif _is_pointing(token):
                open_[token.i] = frozenset()
            continue
        rivals = frozenset(one.place for one in own if one.place < token.i and one.agrees(token))
        bound = _bound(token, own)
        same = earlier.setdefault(_form(token), token.i)
        if same in meant and not rivals:
            meant[token.i] = meant[same]
        elif same in open_ and not rivals:
            open_[token.i] = open_[same]
        elif bound is not None and rivals <= {bound.place}:
            meant[token.i] = (bound.text, bound.place)
        elif rivals:
            open_[token.i] = rivals
        else:
            found = _certain(token, context)
            if found is None:
                open_[token.i] = frozenset()
            else:
                meant[token.i] = (found.text, None)
    return _Resolved(meant, open_)


def _is_personal(token: Token) -> bool:
    """Whether the token is a third-person pronoun that refers to something. *It* in *it is known that ...* does not."""
    around = token.doc[max(0, token.i - 2) : token.i + 3]
    if any(one.lower_ == "or" for one in around) and sum(one.pos_ == "PRON" for one in around) > 1:
        return False
    if token.pos_ != "PRON" or token.morph.get("Person", []) != ["3"] or "Yes" in token.morph.get("Reflex", []):
        return False
    return token.lower_ != "it" or token.dep_ not in _SUBJECTS or not _is_empty(token.head)


def _is_empty(clause: Token) -> bool:
    """Whether *it* is a placeholder for a later clause, as in *it is known that ...* or *it was Ada who ...*."""
    heads = [clause, *(child for child in clause.rights if child.dep_ in {"acomp", "attr"})]
    said = {child.dep_ for one in heads for child in one.rights}
    return bool(said & {"ccomp", "xcomp", "csubj", "relcl"}) and (clause.lemma_ == "be" or clause.tag_ == "VBN")


def _is_pointing(token: Token) -> bool:
    """Whether the token is a demonstrative without a noun, as in *This shows ...*."""
    return (
        token.tag_ == "DT"
        and token.dep_ in {*_SUBJECTS, "dobj", "pobj"}
        and "Dem" in token.morph.get("PronType", [])
        and not list(token.rights)
    )


def _form(token: Token) -> str:
    return "".join(token.morph.get("Gender", [])) or "Plur"


def _bound(token: Token, own: Sequence[_Referent]) -> _Referent | None:
    by_place = {one.place: one for one in own}
    above = list(token.ancestors)
    around = {token.i, *(one.i for one in above)}
    for clause in above:
        subject = subject_of(clause) or (subject_of(clause.head) if clause.dep_ == "conj" else None)
        found = None if subject is None or subject.i in around else by_place.get(subject.i)
        if found is not None and found.agrees(token):
            return found
    return None


def _certain(token: Token, context: _Before) -> _Referent | None:
    """The last subject is chosen if nothing else agrees with the pronoun. If that subject is the topic and the pronoun
    is itself a subject, only other subjects and objects count as alternatives.
    """
    subject, topic = context.subject, context.topic
    if context.is_unclear or subject_of(token.sent.root) is None:
        return None  # also in a heading or a request
    is_neuter = _form(token) == "Neut"
    if is_neuter and subject is not None and subject.kind == "person" and context.others:
        return None  # it may be a person, or a thing that the pipeline takes for a person
    rivals = [one for one in context.others if one.agrees(token) and (one.is_name or is_neuter or one.is_many)]
    if subject is None or not subject.agrees(token):
        return topic if topic is not None and topic.agrees(token) and not rivals and topic.is_name else None
    if not is_neuter and not subject.is_many and not subject.is_name:
        return None
    is_topic = topic is not None and topic.text == subject.text and token.dep_ in _SUBJECTS
    rivals = [one for one in rivals if one.role in _CENTRAL] if is_topic else rivals
    return None if rivals else subject


def _full_name(token: Token, context: _Before) -> str | None:
    """Returns the full name for a short name such as *Smeaton* or *the tower*, if exactly one is known."""
    is_part = token.dep_ == "compound" or (token.dep_ == "poss" and token.head.pos_ == "PROPN")
    if is_part or any(child.dep_ != "det" for child in token.lefts):
        return None
    article = next((child.lower_ for child in token.lefts if child.dep_ == "det"), "")
    is_short = (token.pos_ == "PROPN" and not article) or (
        token.tag_ == "NN" and article == "the" and token.dep_ in _SUBJECTS
    )
    names = context.names.get(token.lower_, ())
    if not is_short or len(names) != 1 or any(child.dep_ in {"prep", "relcl", "acl"} for child in token.rights):
        return None
    return names[0]
