"""Splits a sentence into atomic facts by the dependency parse of a spaCy pipeline, in the place of the rules.

The labels are those of spaCy's English pipelines (`nsubj`, `conj`, `relcl`, `appos`). How well they split was not
measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from factloop.tools.linguistics.clauses import is_said_together

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_CLAIMS = 24
"""Claims of one sentence; one that would yield more is left whole."""

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_AUXILIARIES = frozenset({"aux", "auxpass", "neg"})
_LISTED = frozenset({"attr", "dobj", "pobj", "oprd"})
"""What each of the nouns joined to one of these may be said of alone."""
_CONDITIONS = frozenset({"if", "unless", "whether"})
_DANGLING = re.compile(r"^(?:[\s,;]|(?:and|but)\b)+|(?:[\s,;.]|\band)+$", re.IGNORECASE)
_PAST_FORMS = frozenset({"VBD", "VBN"})
_RELATIVE_TAGS = frozenset({"WP", "WDT"})


def is_parsed(doc: Doc) -> bool:
    """Whether the pipeline has told the dependencies of the words."""
    return bool(doc.has_annotation("DEP"))


def split_by_parse(doc: Doc) -> list[str]:
    """The claims of a parsed sentence in order; the sentence itself where a root has no subject, or where there are
    far too many."""
    roots = [token for token in doc if token.head == token]
    if not all(_subject(root) for root in roots):
        return [str(doc.text)]
    found = (claim for root in roots for claim in _claims_of(root))
    claims = list(dict.fromkeys(islice(found, MAX_CLAIMS + 1)))
    return claims if 0 < len(claims) <= MAX_CLAIMS else [str(doc.text)]


def _claims_of(predicate: Token, shared: str = "") -> Iterator[str]:
    """The claim of a predicate without what can be taken off, then the claims of what was. `shared` is the subject,
    with auxiliaries, that a further predicate has from the one before."""
    further = [] if _is_conditional(predicate) else [child for child in predicate.children if _is_further(child)]
    modifiers = [token for token in predicate.subtree if _is_modifier(token, predicate)]
    own = _subject(predicate)
    body = _without(predicate.subtree, [*further, *modifiers, *_relatives(predicate)])
    for piece in _each_listed(body, predicate):
        yield f"{shared} {piece}".strip() if own is None else piece
    subject = shared if own is None else _phrase(own)
    for modifier in modifiers:
        yield from _claims_of_modifier(modifier, predicate, subject)
    for other in further:
        yield from _claims_of(other, f"{subject} {_shared_auxiliaries(predicate, other)}".strip())


def _subject(predicate: Token) -> Token | None:
    """The subject that is no relative pronoun."""
    subjects = (child for child in predicate.children if child.dep_ in _SUBJECTS)
    return next((child for child in subjects if child.tag_ not in _RELATIVE_TAGS), None)


def _relatives(predicate: Token) -> list[Token]:
    """The relative pronoun that is the subject, if there is one."""
    return [child for child in predicate.children if child.dep_ in _SUBJECTS and child.tag_ in _RELATIVE_TAGS]


def _is_further(token: Token) -> bool:
    """Whether it is a predicate joined by *and* or *but*."""
    return token.dep_ == "conj" and (token.tag_[:2] in {"VB", "MD"} or token.pos_ in {"VERB", "AUX"})


def _is_conditional(predicate: Token) -> bool:
    """Whether what it says holds only under a condition, or by another's account: further predicates would, too."""
    below = (token for child in predicate.children for token in (child, *child.children))
    return any(token.lower_ in _CONDITIONS or token.lower_ in {"according", "neither"} for token in below)


def _is_modifier(token: Token, predicate: Token) -> bool:
    """Whether it is a relative clause or an appositive of a noun in the predicate's own clause, set off by a comma; or
    a relative clause of what the subject is: *X is a firm that makes Y*."""
    if token == predicate or token.dep_ not in {"relcl", "appos"} or not _is_in_clause(token, predicate):
        return False
    first = token.left_edge
    is_set_off = first.i > 0 and token.doc[first.i - 1].text == ","
    if token.dep_ == "appos":
        return is_set_off
    return bool(_relatives(token)) and (is_set_off or token.head.dep_ == "attr")


def _is_in_clause(token: Token, predicate: Token) -> bool:
    """Whether no other clause or modifier stands between the two."""
    between = (one for one in token.ancestors if one != predicate and predicate.is_ancestor(one))
    return not any(one.dep_ in {"ccomp", "advcl", "relcl", "appos"} or _is_further(one) for one in between)


def _claims_of_modifier(modifier: Token, predicate: Token, subject: str) -> Iterator[str]:
    noun = modifier.head
    if modifier.dep_ == "appos":
        yield f"{_phrase(noun)} {'was' if _is_past(predicate) else 'is'} {_phrase(modifier)}"
    else:
        yield from _claims_of(modifier, subject if noun.dep_ == "attr" else _phrase(noun))


def _is_past(predicate: Token) -> bool:
    auxiliaries = [child for child in predicate.children if child.dep_ in _AUXILIARIES and child.dep_ != "neg"]
    return (auxiliaries[0] if auxiliaries else predicate).tag_ in _PAST_FORMS


def _shared_auxiliaries(first: Token, other: Token) -> str:
    """*was* of *was built in A and sold to B*, *can* of *can swim and dive*: what the second leaves out."""
    has_own = any(child.dep_ in _AUXILIARIES | _SUBJECTS for child in other.children)
    if has_own or first.tag_ != other.tag_ or other.tag_ not in {"VBN", "VB", "VBG"}:
        return ""
    return _text(child for child in first.children if child.dep_ in _AUXILIARIES)


def _each_listed(body: list[Token], predicate: Token) -> list[str]:
    """The clause once for each noun of its first list, or as it is where it has none that may be told apart."""
    text = _text(body)
    kept = {token.i for token in body}
    for head in body:
        others = [token for token in head.conjuncts if token.i in kept] if head.dep_ in _LISTED else []
        if not others or head.i < predicate.i or not _is_in_clause(head, predicate):
            continue
        if is_said_together(text) or not _ends(body, others[-1]):
            return [text]
        before = _text(token for token in body if token.i < head.left_edge.i)
        return [f"{before} {_item(noun, head)}" for noun in (head, *others)]
    return [text]


def _ends(body: list[Token], last: Token) -> bool:
    """Whether nothing but marks comes after the last noun of a list: what follows may belong to each or to one."""
    return all(token.is_punct for token in body if token.i > last.right_edge.i)


def _item(noun: Token, head: Token) -> str:
    """One noun of a list, with the article of the first where it has none."""
    text = _text(_without(noun.subtree, [child for child in noun.children if child.dep_ == "conj"]))
    article = next((child for child in head.children if child.lower_ in {"a", "an"}), None)
    if article is None or noun == head or any(child.dep_ in {"det", "poss"} for child in noun.children):
        return text
    return f"{'an' if text[:1].lower() in 'aeiou' else 'a'} {text}"


def _phrase(token: Token) -> str:
    return _text(_without(token.subtree, [child for child in token.children if child.dep_ in {"relcl", "appos"}]))


def _without(tokens: Iterable[Token], apart: list[Token]) -> list[Token]:
    """The tokens but those under one of `apart`, and but the commas and conjunctions that join these to the rest."""
    gone = {token.i for one in apart for token in one.subtree}
    for one in apart:
        edge = one.left_edge.i - 1
        while edge >= 0 and (one.doc[edge].text == "," or one.doc[edge].dep_ == "cc"):
            gone.add(edge)
            edge -= 1
        after = one.right_edge.i + 1
        if one.dep_ in {"relcl", "appos"} and after < len(one.doc) and one.doc[after].text == ",":
            gone.add(after)
    return [token for token in tokens if token.i not in gone]


def _text(tokens: Iterable[Token]) -> str:
    """The tokens in order as they are written, without the marks and conjunctions left over at either end."""
    ordered = sorted(tokens, key=lambda token: token.i)
    pieces = []
    for token, following in zip_longest(ordered, ordered[1:]):
        is_cut = following is not None and following.i > token.i + 1 and not following.is_punct
        pieces.append(f"{token.text} " if is_cut else token.text_with_ws)
    return _DANGLING.sub("", "".join(pieces))
