"""Finds how a sentence on the same subject contradicts a claim: by a different figure or date, or by a negation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factloop.tools.judges.aligned import DENIERS, Alignment, Parsed
from factloop.tools.judges.figures import Figure
from factloop.tools.judges.source_sentences import Sentence, figures_in

if TYPE_CHECKING:
    from spacy.tokens import Token

ALL_ELSE = 0.9
"""A sentence can negate a claim only if it contains at least this proportion of its content words."""
_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_COUNTS = frozenset({"nummod", "compound", "quantmod"})


@dataclass(frozen=True)
class Difference:
    wrong: str
    instead: str
    sentence: Sentence


def find_difference(one: Alignment, figures: Sequence[Figure], least: float) -> Difference | None:
    """Finds a contradiction in a sentence that contains at least the proportion `least` of the claim's other content
    words.

    A figure that occurs in any source (`figures`) is not an error.
    """
    if one.is_supposed or one.is_of_other_row:
        return None
    return _other_figure(one, figures, least) or _denial(one, least)


def _other_figure(one: Alignment, figures: Sequence[Figure], least: float) -> Difference | None:
    claimed = [figure for figure in one.claim.figures if not _is_among(figure, figures)]
    if len(claimed) != 1 or one.share_without(claimed[0]) < least or not one.speaks_of_subject:
        return None
    wrong = claimed[0]
    said = [other for other in one.sentence.figures if not _is_among(other, one.claim.figures)]
    others = [other for other in said if wrong.compare(other) == "other" and _is_same_kind(one, wrong, other)]
    if len(others) != 1 or not one.shares_governor(wrong, others[0]):
        return None
    return Difference(*_exchange(one, wrong, others[0]), one.sentence)


def _exchange(one: Alignment, wrong: Figure, other: Figure) -> tuple[str, str]:
    """Returns the wrong words and their replacement, or an empty replacement if the claim's unit would be wrong or
    missing. If the source's unit is in a column header, only the claim's number is replaced."""
    instead = other.text if other.text in one.sentence.text else other.text.split()[0]
    before, after = one.claim.doc.text[: wrong.start], one.claim.doc.text[wrong.end :]
    for old in (wrong.text, *_NUMBER.findall(wrong.text)):
        said = figures_in(f"{before}{wrong.text.replace(old, instead, 1)}{after}")
        if any(figure.unit == other.unit and figure.compare(other) == "same" for figure in said):
            return old, instead
    return wrong.text, ""


def _is_among(figure: Figure, others: Sequence[Figure]) -> bool:
    return any(figure.compare(other) in ("same", "near") for other in others)


def _is_same_kind(one: Alignment, wrong: Figure, other: Figure) -> bool:
    if wrong.unit or wrong.dates or wrong.code:
        return wrong.precision == other.precision
    counted = [_counted(one.claim, wrong), _counted(one.source, other)]
    return bool(counted[0]) and counted[0] == counted[1]


def _counted(parsed: Parsed, figure: Figure) -> str:
    within = parsed.within(figure)
    nouns = (token.head for token in within if token.dep_ in _COUNTS and token.head not in within)
    return next((parsed.stem_of(noun) for noun in nouns if noun.pos_ in ("NOUN", "PROPN")), "")


def _denial(one: Alignment, least: float) -> Difference | None:
    if one.predicate is None or one.share_without() < max(least, ALL_ELSE) or one.is_possible_only:
        return None
    claimed, said = one.predicate
    deniers = [token for parsed in (one.claim, one.source) for token in parsed.doc if token.lower_ in DENIERS]
    if len(deniers) != 1 or deniers[0].dep_ != "neg" or deniers[0].head not in (claimed, said):
        return None
    if said not in one.pairs.get(claimed, ()) or not one.has_same_subject or not all(map(one.keeps, one.arcs)):
        return None
    return Difference(_clause(claimed), _clause(said), one.sentence)


def _clause(verb: Token) -> str:
    around = [one.i for one in verb.children if one.dep_ in ("aux", "auxpass", "neg") and abs(one.i - verb.i) < 5]
    return verb.doc[min(verb.i, *around) : max(verb.i, *around) + 1].text if around else verb.text
