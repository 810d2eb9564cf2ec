"""Forms of one English word: which words share a lemma, and nouns put into the singular or the plural."""

from __future__ import annotations

from functools import lru_cache

from factloop.tools.linguistics.english import is_known, lemmatize
from factloop.tools.verifiers.terms import IRREGULAR
from factloop.tools.vocabulary.data import textblob_module
from factloop.tools.vocabulary.lexicon import count_of, tag_of

_COMMON = 10
"""Occurrences of a noun from which on its plural is expected in the lexicon, if there is one."""

_PLURALS = (("ves", "f"), ("ves", "fe"), ("ies", "y"), ("ses", "sis"), ("xes", "xis"), ("people", "person"))
"""Plurals of which the dictionary often knows a verb alone, or nothing."""


@lru_cache(maxsize=65_536)
def lemmas(word: str) -> frozenset[str]:
    """The forms under which a dictionary may have the word, in lower case: *live* and *life* for *lives*."""
    lower = word.lower()
    found = {IRREGULAR.get(lower) or lemmatize(lower).lower()} if lower else {""}
    for plural, singular in _PLURALS:
        noun = lower.removesuffix(plural) + singular
        if lower.endswith(plural) and tag_of(noun) == "NN":
            found.add(noun)
    return frozenset(found)


def same_lemma(one: str, other: str) -> bool:
    """Whether one is a form of the other: *found* and *founded* too, since *found* is a form of both verbs.

    Several words are compared one by one. Case and a possessive 's are looked past.
    """
    ours, theirs = _words(one), _words(other)
    return len(ours) == len(theirs) and all(map(_is_form, ours, theirs))


@lru_cache(maxsize=4096)
def agree(noun: str, tag: str) -> str | None:
    """The noun, or several words that end in one, in the number that the tag asks for: NN or NNS.

    None where that is unknown: the tag or the last word is not a common noun's, or the noun has no such form.
    """
    before, _, last = noun.rpartition(" ")
    number = _number(last)
    if tag not in {"NN", "NNS"} or number is None:
        return None
    if number == tag:
        return noun
    form = _plural(last.lower()) if tag == "NNS" else _singular(last.lower())
    if form is None:
        return None
    return f"{before} {form.capitalize() if last[0].isupper() else form}".lstrip()


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("’s") for word in text.lower().replace("_", " ").split()]


def _is_form(one: str, other: str) -> bool:
    if not {one, *lemmas(one)}.isdisjoint({other, *lemmas(other)}):
        return True
    return one in (other + "s", other + "es") or other in (one + "s", one + "es")


def _number(word: str) -> str | None:
    """NN or NNS for a common noun in the singular or the plural."""
    tag = tag_of(word.lower())
    if tag in {"NN", "NNS"}:
        return tag
    if tag is not None or not word or not is_known(word.lower()):
        return None
    return "NNS" if _singular(word.lower()) else "NN"


def _plural(word: str) -> str | None:
    """The plural; None for a common word whose plural is not found anywhere: *informations*."""
    pluralize = textblob_module("en/inflect").pluralize
    forms = [
        form for form in (pluralize(word), word + "s") if form != word and form[:1] == word[:1]
    ]  # not *ours* for *mine*
    seen = next((form for form in forms if tag_of(form) in {"NNS", "VBZ"} or count_of(form)), None)
    if seen is not None or count_of(word) >= _COMMON:
        return seen
    return next((form for form in forms if is_known(form)), None)


def _singular(word: str) -> str | None:
    """The noun of which this is the plural, as a lemmatiser or rules give it; its own plural is the proof."""
    singularize = textblob_module("en/inflect").singularize
    candidates = (*sorted(lemmas(word)), singularize(word), word.removesuffix("s"))
    forms = [form for form in candidates if form != word]
    nouns = (form for form in forms if tag_of(form) == "NN" and _plural(form) == word)
    others = (form for form in forms if form + "s" == word and not word.endswith("ics") and _may_be_noun(form))
    return next(nouns, None) or next(others, None)


def _may_be_noun(word: str) -> bool:
    """*criminal*, *thousand* and *talk* are nouns besides what the lexicon calls them."""
    return tag_of(word) in {"JJ", "CD", "VB", "VBP", None} and is_known(word)
