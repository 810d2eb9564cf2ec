"""Names beside a label, as contracts and forms give them: *The tenant is Petra Wolf* against *Tenant: Hans Gruber*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factloop.tools.linguistics.mentions import TITLES
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.rows import OTHERWISE, SAID, words_of
from factloop.tools.verifiers.terms import sentence_texts

_NAME = r"(?:[A-ZÀ-ÖØ-Þ][\w'’-]*\.?)(?: (?:(?:von|van|de|la|le|del|der|of) )?[A-ZÀ-ÖØ-Þ][\w'’-]*\.?){1,4}"
_TOLD = re.compile(rf"[Tt]he (?P<label>[^\W\d_]+(?: [^\W\d_]+){{0,2}}) (?:is|was) (?P<name>{_NAME})")
_LABELLED = re.compile(rf"(?P<label>[^\W\d_]+(?: [^\W\d_]+){{0,2}}): (?P<name>{_NAME})")
_JOINED = re.compile(r",? and (?=the )")


class _Labelled(NamedTuple):
    passage: int
    sentence: str
    written: str
    """The sentence as the passage spells it."""
    label: frozenset[str]
    name: str


def verify_names(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What the labels of the sources say of a claim that gives a name to each of one or two labels.

    None for other claims, and where a label is not there, has two names, or has a name that may be the same.
    """
    told = [_TOLD.fullmatch(part) for part in _JOINED.split(claim.strip().rstrip("."))]
    given = list(_labelled(passages)) if all(told) else []
    if not given:
        return None
    found = [(one["name"], _named(one["label"], given)) for one in told if one is not None]
    for name, there in found:
        if there is not None and not _words(name) & _words(there.name):
            rationale = f'The source says "{there.name}", the claim "{name}": “{there.sentence}”'
            grounds = (rationale, there.written, name, there.name)
            return SupportReading("contradicted", OTHERWISE, (there.passage,), *grounds)
    if all(there is not None and _words(name) == _words(there.name) for name, there in found):
        borne = [there for _, there in found if there is not None]
        lines = " and ".join(f"“{there.sentence}”" for there in borne)
        cited = tuple(dict.fromkeys(there.passage for there in borne))
        return SupportReading("supported", SAID, cited, f"Borne out by: {lines}", borne[0].written)
    return None


def _labelled(passages: Sequence[str]) -> Iterator[_Labelled]:
    for number, passage in enumerate(passages):
        for text, written in sentence_texts(passage):
            found = _LABELLED.fullmatch(text.strip().removesuffix("."))
            if found is not None:
                yield _Labelled(number, text.strip(), written.strip(), words_of(found["label"]), found["name"])


def _named(label: str, given: Sequence[_Labelled]) -> _Labelled | None:
    """The one name that the sources give for a label; None without one, and for several."""
    found = [one for one in given if one.label == words_of(label)]
    return found[0] if len({one.name for one in found}) == 1 else None


def _words(name: str) -> frozenset[str]:
    words = (word.strip(".").lower() for word in name.split())
    return frozenset(word for word in words if word not in TITLES)
