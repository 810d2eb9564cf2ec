"""What an ellipsis leaves out: *the R100 has a camera, but the R200 does not* says that the R200 does not have one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.english import lemmatize
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.passage_index import kept_by_passage
from factloop.tools.verifiers.terms import Term, TermKind, sentence_texts
from factloop.tools.verifiers.verbs import is_verb

MAX_CHARS = 240
"""Of a sentence that is read so."""
MAX_KEPT = 1_000
_DO = frozenset({"do", "does", "did"})
_BE = frozenset({"is", "are", "was", "were"})
_HAVE = frozenset({"has", "have", "had"})
_CAN = frozenset({"can", "could", "may", "might", "must", "should", "will", "would", "cannot"})
_AUX = "|".join(sorted(_DO | _BE | _HAVE | _CAN))
_ELLIPSIS = re.compile(
    rf"(?P<first>[^;:\n]{{5,180}}?)(?:[,;] (?:but |while |whereas |though |although |and )?| (?:but|while|whereas) )"
    rf"(?P<other>[^,;:\n]{{1,60}}?) (?P<aux>{_AUX})(?P<denied> not|n['’]t)?[.!]?"
)
_MAYBE = re.compile(rf" (?:{_AUX})(?: not|n['’]t)?(?=[.!\n]|\Z)")
_NOT = re.compile(r"(?: not|n['’]t)\b")
_NO = re.compile(r"\A(?:no|not any) ", re.IGNORECASE)


def without_ellipses(passages: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The passages with what their ellipses leave out, and each sentence that was made with the one it stands for."""
    read = [_filled(passage) if _may_have_any(passage) else (passage, ()) for passage in passages]
    return [text for text, _ in read], {made: written for _, pairs in read for made, written in pairs}


def as_written(read: SupportReading, spoken: dict[str, str], claim: str, passages: Sequence[str]) -> SupportReading:
    """A reading with the sentence of the passages in place of the one that was made of it."""
    wrong = "" if both_clauses(claim) and read.wrong not in claim else read.wrong
    written = spoken.get(read.quote.strip())
    if written is None:
        return read if wrong == read.wrong else replace(read, wrong=wrong)
    is_there = any(read.instead in passages[number] for number in read.cited)
    rationale = read.rationale.replace(read.quote.strip(), written)
    return replace(read, quote=written, rationale=rationale, wrong=wrong, instead=read.instead if is_there else "")


@kept_by_passage
def _may_have_any(passage: str) -> bool:
    return _MAYBE.search(passage) is not None


@lru_cache(maxsize=MAX_KEPT)
def _filled(passage: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    pairs: list[tuple[str, str]] = []
    pieces: list[str] = []
    for _, raw in sentence_texts(passage):
        made = both_clauses(raw.strip())
        pairs += [(one, raw.strip()) for one in made]
        pieces.append(f"{' '.join(made)}{raw[len(raw.rstrip()) :]}" if made else raw)
    return "".join(pieces) if pairs else passage, tuple(pairs)


def both_clauses(sentence: str) -> list[str]:
    """The two clauses of an ellipsis, each whole; none of another sentence."""
    is_short = len(sentence) <= MAX_CHARS and _MAYBE.search(sentence) is not None
    found = _ELLIPSIS.fullmatch(sentence) if is_short else None
    if found is None or not _is_subject(found["other"]) or not _is_plain(found["first"]):
        return []
    aux, is_denied = found["aux"], found["denied"] is not None or found["aux"] == "cannot"
    verb = _verb_before_do(found["first"]) if aux in _DO else _verb_like(found["first"], aux)
    if verb is None:
        return []
    rest, was_denied = (_in_base if aux in _DO else _after_auxiliary)(found["first"][verb:])
    if not rest or (was_denied and is_denied):
        return []
    plain = {"cannot": "can"}.get(aux, aux)
    other = found["other"][0].upper() + found["other"][1:]
    return [f"{found['first'].strip()}.", f"{other} {plain}{' not' if is_denied else ''} {rest}."]


def _is_plain(first: str) -> bool:
    """Whether a clause has no other within it, whose verb would be taken for its own."""
    words = {word.lower() for word in first.split()}
    return "," not in first and words.isdisjoint(lexicon.RELATIVES | lexicon.SUBORDINATORS)


def _is_subject(phrase: str) -> bool:
    """Whether a phrase may be the subject of the second clause: a few words, no verb and no pronoun among them."""
    words = phrase.split()
    return len(words) <= 6 and not any(
        word.lower() in lexicon.PRONOUNS | lexicon.AUXILIARIES | lexicon.MODALS | lexicon.RELATIVES or _acts(word)
        for word in words
    )


def _acts(word: str) -> bool:
    return word.islower() and is_verb(Term(lemmatize(word).lower(), TermKind.WORD, word))


def _verb_like(first: str, aux: str) -> int | None:
    """Where the auxiliary of the same kind begins in the first clause: *can* of *adults can*; None without one."""
    family = next(words for words in (_BE, _HAVE, _CAN) if aux in words)
    found = re.search(rf"(?<= )(?:{'|'.join(sorted(family))})(?:n['’]t)?(?= )", first)
    return None if found is None else found.start()


def _verb_before_do(first: str) -> int | None:
    """Where the first finite verb begins; None without one, and where an auxiliary other than *have* and *do* comes
    first."""
    previous = ""
    for found in re.finditer(r"[^\s,]+", first):
        word = found[0].strip(".,")
        is_plural = word.islower() and lemmatize(word) in lexicon.VERBS and lemmatize(word) == word
        if word in _BE | _CAN:
            return None
        is_deed = word in _HAVE or _NOT.sub("", word) in _DO or _acts(word) or is_plural
        if is_deed and previous and previous not in lexicon.DETERMINERS | lexicon.POSSESSIVES:
            return found.start()
        previous = word.lower()
    return None


def _after_auxiliary(rest: str) -> tuple[str, bool]:
    """What follows an auxiliary, and whether that is denied."""
    auxiliary, _, tail = rest.partition(" ")
    is_denied = auxiliary == "cannot" or _NOT.search(auxiliary) is not None or tail.startswith("not ")
    return tail.removeprefix("not ").strip(), is_denied or _NO.match(tail) is not None


def _in_base(rest: str) -> tuple[str, bool]:
    """What is done, as it stands after *does*: *have a camera* of *has a camera*, and of *has no camera*, which is
    denied."""
    verb, _, tail = rest.partition(" ")
    if _NOT.sub("", verb) in _DO:
        is_denied = verb not in _DO or tail.startswith("not ")
        return tail.removeprefix("not "), is_denied
    if _NO.match(tail) is not None:
        return f"{lemmatize(verb)} a {_NO.sub('', tail)}", True
    return f"{lemmatize(verb)} {tail}".strip(), False
