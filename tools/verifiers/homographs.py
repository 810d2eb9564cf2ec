"""Words that are spelt alike and deny something as a verb alone: *refuse*, which is rubbish as well."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.terms import Term, TermKind
from factloop.tools.verifiers.verbs import is_verb

_BEFORE_NOUN = lexicon.POSSESSIVES | (lexicon.PREPOSITIONS - {"to"}) | {"a", "the", "household", "domestic"}
_BEFORE_OBJECT = lexicon.DETERMINERS | lexicon.POSSESSIVES | lexicon.PRONOUNS | {"to"}
_AFTER_SUBJECT = lexicon.BE | lexicon.MODALS


def is_rubbish(terms: Sequence[Term], place: int) -> bool:
    """Whether *refuse* is a noun here: after an article, a preposition or a verb, before *is* or *must*, or where it
    opens a sentence and no object follows."""
    if terms[place].surface.lower() != "refuse":
        return False
    before, following = terms[place - 1 : place] if place else (), terms[place + 1 : place + 2]
    if any(term.surface.lower() in _BEFORE_NOUN or _is_deed(term) for term in before):
        return True
    if any(term.surface.lower() in lexicon.RELATIVES | lexicon.PRONOUNS for term in before):
        return False
    if any(term.surface.lower() in _AFTER_SUBJECT for term in following):
        return True
    opens = not before or before[0].kind is TermKind.MARK
    return opens and not any(term.surface.lower() in _BEFORE_OBJECT for term in following)


def _is_deed(term: Term) -> bool:
    """Whether a word is a verb that may have rubbish for its object: *collects refuse*, but not *did refuse*."""
    is_bare = term.key in lexicon.VERBS and term.surface == term.key
    return (is_bare or is_verb(term)) and term.surface.lower() not in lexicon.AUXILIARIES | lexicon.MODALS
