"""New wordings without a model: the source's value replaces the one that it contradicts.

Only what the judge names is exchanged, where the sentence has it once; what cannot be mended so is marked. Where
unproven claims are to go, the others are said again, without their markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from factloop.core.errors import ToolError
from factloop.core.records import Claim
from factloop.correction.drafts import NOT_CONFIRMED, Wording
from factloop.correction.faults import Fault
from factloop.tools.names.inflection import indefinite_article
from factloop.tools.text.markup import plain_text

NAME = "offline rewriter"
NO_VALUE = "the evidence has no value that could replace it"
_STOPS = ".!?…。！？｡؟।"


@dataclass(frozen=True)
class Exchange:
    """Words of a claim, and those of the source that belong in their place."""

    wrong: str
    right: str

    def stands_in(self, text: str) -> bool:
        """Whether the wrong words stand in a text."""
        return any(_places(self.wrong, text))

    def in_text(self, text: str) -> str | None:
        """The text with the right words; None where the wrong ones do not stand there once."""
        places = list(_places(self.wrong, text))
        if len(places) != 1:
            return None
        start, end = places[0]
        before, right = text[:start], self.right
        if text[start].isupper() and right[:1].islower() and not before.strip(" \t*_\"'“‘(-"):
            right = right[0].upper() + right[1:]
        return f"{_with_article(before, right)}{right}{text[end:]}"


class OfflineRewriter:
    """Puts right values into sentences by what the judge says; a second check has the last word."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def hashes(self) -> Mapping[str, str]:
        return {}

    async def reword(self, fault: Fault) -> Wording:
        """The sentence with all values exchanged, else only what is to be kept of it.

        Raises ToolError where only a stump of a sentence would be left, or part of a row.
        """
        text = _exchanged(fault) if fault.contradicted and not fault.removed else None
        if text is None:
            return _left_over(fault, NO_VALUE if fault.contradicted else "")
        return Wording(text, tuple(item.id for item in fault.cited), self.name, otherwise=_cut_down(fault))


def exchange_of(claim: Claim) -> Exchange | None:
    """The exchange that the judge names, where it names both values."""
    wrong, right = claim.judgement.wrong.strip(), claim.judgement.instead.strip()
    return Exchange(wrong, right) if wrong and right else None


def restated(fault: Fault) -> str:
    """The claims to keep, each in a sentence as it was split; empty without any. Raises ToolError where only a stump
    would be left: *Ada died*, of *Ada died in Oslo*."""
    stop = fault.text[-1] if fault.text[-1:] in _STOPS else "."
    kept = [plain_text(claim.text).strip() for claim in fault.staying]
    for text in kept:
        if any(_is_stump(text, plain_text(claim.text)) for claim in fault.wrong):
            raise ToolError(f"only {text!r} would be left of what it says", tool=NAME)
    return " ".join(_as_sentence(text, stop) for text in dict.fromkeys(kept))


def _exchanged(fault: Fault) -> str | None:
    """The sentence with all exchanges made; None where one is missing or cannot be made in it, or where a claim that is
    to be kept has the same words."""
    text, kept = fault.text, [plain_text(claim.text) for claim in fault.staying]
    for one in dict.fromkeys(exchange_of(contradiction.claim) for contradiction in fault.contradicted):
        shared = one is not None and any(one.stands_in(other) for other in kept)
        new = None if one is None or shared else one.in_text(text)
        if new is None:
            return None
        text = new
    return text


def _cut_down(fault: Fault) -> Wording | None:
    """What to try where a better wording fails its check, beside a removal."""
    try:
        return _left_over(fault, NOT_CONFIRMED) if fault.staying else None
    except ToolError:
        return None


def _left_over(fault: Fault, detail: str) -> Wording:
    if "|" in fault.text and fault.staying:
        raise ToolError("a row of a table cannot be cut down", tool=NAME)
    text = "" if "|" in fault.text else restated(fault)
    return Wording(text, by=NAME if text else "", detail=detail, is_cut=bool(fault.contradicted))


def _is_stump(text: str, of: str) -> bool:
    return of.rstrip(_STOPS).lower().startswith(f"{text.rstrip(_STOPS).lower()} ")


def _as_sentence(text: str, stop: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text[-1:] in _STOPS else stop)


def _places(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the words stand in a text, as words: 48 is not in 48.5, nor in 1,248."""
    for found in re.finditer(rf"(?<!\w)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)", text, re.IGNORECASE):
        yield found.span()


def _with_article(before: str, right: str) -> str:
    """What stands before, with *a* or *an* as the right words want it."""
    article = re.search(r"\b([Aa])n? $", before)
    if article is None or not right[:1].isalpha():
        return before
    return f"{before[: article.start()]}{article[1]}{indefinite_article(right)[1:]} "
