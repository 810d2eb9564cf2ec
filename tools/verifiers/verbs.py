"""Which words are likely to be verbs, by their form: no sentence is parsed."""

from __future__ import annotations

from functools import lru_cache

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.terms import NOUNS_LIKE_PASTS, Term, TermKind

SURELY_FINITE = lexicon.PAST | lexicon.AUXILIARIES | lexicon.MODALS
MAX_KEPT = 20_000

_VERB_FORMS = SURELY_FINITE | lexicon.PARTICIPLES | lexicon.PAST_OR_PARTICIPLE


@lru_cache(maxsize=MAX_KEPT)
def is_verb(term: Term) -> bool:
    """Whether a word is likely to be a verb, by its form."""
    word = term.surface.lower()
    if word == term.key and word in NOUNS_LIKE_PASTS:
        return False
    return (
        word in _VERB_FORMS
        or (word.endswith("ed") and len(word) > 3 and word not in lexicon.NOT_VERBS_IN_ED)
        or (word.endswith("s") and term.kind is TermKind.WORD and term.key in lexicon.VERBS)
    )
