"""Labels in brackets right after figures, which say what each is of: *€4 per month (Starter), €3 per month (Team)*."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES, TermKind
from factloop.tools.verifiers.verbs import is_verb

LONGEST_LABEL = 3
"""Words."""


def figures_of_other_labels(alignment: Alignment) -> Iterator[Mismatch]:
    """A figure that has another label than the claim names, while the claim's label stands after another figure: *€4
    (Starter), €3 (Team)* does not say that Team costs €4."""
    claim, sentence = alignment.claim, alignment.sentence
    labels = _labels(sentence)
    for place in [one for one in claim.of_kind(TermKind.NUMBER) if one in alignment.pairs]:
        own = alignment.partners[place]
        for rival in labels if any(one in labels for one in own) else ():
            is_other = rival not in own and sentence.terms[rival].key not in alignment.claim_keys
            if is_other and names_label(alignment, [rival], own):
                yield Mismatch("value", (place,), (rival,), excludes=True)
                return


def names_label(alignment: Alignment, figures: Iterable[int], others: Iterable[int]) -> bool:
    """Whether the claim has all of the label after one of these figures, and nothing of those after the others."""
    labels = _labels(alignment.sentence)
    of_others = {place for one in others for place in labels.get(one, ())}
    is_named = any(one in labels and alignment.paired.issuperset(labels[one]) for one in figures)
    return is_named and alignment.paired.isdisjoint(of_others)


@kept
def _labels(reading: Reading) -> Mapping[int, Sequence[int]]:
    """The words in brackets right after a number that stands in none, where they only name what it is of: *€4 per month
    (Starter)*."""
    labels: dict[int, Sequence[int]] = {}
    place = 0
    for sentence in reading.sentences:
        figure: int | None = None
        inside: list[int] | None = None
        for term in sentence.terms:
            if term.kind is not TermKind.MARK:
                if inside is not None:
                    inside.append(place)
                elif term.kind is TermKind.NUMBER:
                    figure = place
                place += 1
            elif term.surface == "(":
                inside = []
            else:
                if term.surface == ")" and figure is not None and inside and _only_names(reading, inside):
                    labels[figure] = inside
                inside, figure = (inside, figure) if inside is not None and term.surface != ")" else (None, None)
    return labels


def _only_names(reading: Reading, places: Sequence[int]) -> bool:
    terms = [reading.terms[place] for place in places]
    return len(terms) <= LONGEST_LABEL and not any(term.kind in FIGURES or is_verb(term) for term in terms)
