"""All checks, and what they find together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from factloop.tools.verifiers.alignment import Alignment, align, holds_opposite
from factloop.tools.verifiers.checks import (
    attributes,
    causes,
    cells,
    changes,
    comparisons,
    conditions,
    counts,
    crossed,
    currencies,
    dates,
    days,
    days_of_month,
    denial,
    durations,
    duties,
    ended,
    equatives,
    exceptions,
    figure_labels,
    figures,
    fractions,
    parallels,
    quantity,
    roles,
    slots,
    spans,
    steps,
    subjects,
    ways,
)
from factloop.tools.verifiers.checks.base import Mismatch, MismatchKind
from factloop.tools.verifiers.checks.said_of import is_of_another, is_of_another_occasion
from factloop.tools.verifiers.reading import Reading, read_closely
from factloop.tools.verifiers.terms import FIGURES, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import PHASES, PRONOUNS

Check = Callable[[Alignment], Iterator[Mismatch]]

SURE: dict[str, Check] = {
    "owners": subjects.owners,
    "namesakes": subjects.namesakes,
    "others by number": subjects.others_by_number,
    "currencies": currencies.other_currencies,
    "counts": counts.other_counts,
    "more than one": figures.more_than_one,
    "durations": durations.other_durations,
    "days of a month": days_of_month.other_days_of_month,
    "dates": dates.other_dates,
    "limits": figures.other_limits,
    "ends of time": dates.other_ends,
    "halves of the day": spans.other_halves_of_day,
    "ends of a span": spans.other_ends_of_span,
    "figures of other clauses": figures.figures_of_other_clauses,
    "figures of other cells": cells.figures_of_other_cells,
    "figures of other labels": figure_labels.figures_of_other_labels,
    "nearer numbers": figures.nearer_numbers,
    "crossed pairs": crossed.crossed_pairs,
    "parallels": parallels.exchanged_parallels,
    "gaps of parallels": parallels.values_of_gaps,
    "before a change": changes.values_before_a_change,
    "shares": fractions.other_shares,
    "attributes": attributes.other_attributes,
    "denials": denial.denials,
    "denied parts": denial.parts,
    "conditions": conditions.other_conditions,
    "past for present": ended.past_for_present,
    "ended things": ended.ended_things,
    "roles": roles.exchanged_roles,
    "ways": ways.turned_ways,
    "converse deeds": roles.converse_deeds,
    "agents": roles.other_agents,
    "equated": equatives.equated,
    "subjects": subjects.other_subjects,
    "levelled": comparisons.levelled_comparison,
    "only": quantity.unsaid_only,
    "all for only": quantity.all_for_only,
    "others for only": quantity.others_for_only,
    "parts": quantity.parts_for_all,
    "numbers for all": quantity.numbers_for_all,
    "opposite deeds": denial.opposite_deeds,
    "opposites nearby": denial.opposites_nearby,
    "fillings": slots.other_fillings,
    "modifiers": slots.other_modifiers,
    "places": slots.other_places,
    "causes": causes.other_causes,
    "days": days.not_every_day,
    "exceptions": exceptions.excepted,
    "forces": duties.other_forces,
    "forbidden deeds": duties.forbidden_deeds,
    "warned steps": steps.warned_steps,
}
"""Checks by name whose every mismatch refuses support."""
DOUBTFUL: dict[str, Check] = {
    "figures of others": figures.strangers_figures,
    "opposites": denial.opposites,
    "degrees": comparisons.other_degree,
    "comparisons": comparisons.exchanged_comparison,
    "quantifiers": quantity.other_quantities,
}
"""Checks whose mismatches count only where they show the claim to be false: elsewhere they refused more true claims of
people's data than false ones."""
CHECKS = SURE | DOUBTFUL
"""All, the surest first: the first mismatch found is the one that is told."""

MAX_CONTENT = 40
"""Content words of a claim that is checked; longer texts are no claims, and time stays bounded."""


def find_mismatch(alignment: Alignment) -> Mismatch | None:
    """The first mismatch; None where there is none, or where one sentence alone holds as much and has none."""
    if len(alignment.claim.content) > MAX_CONTENT:
        return None
    mismatch = _first(alignment)
    is_settled = mismatch is None and not holds_opposite(alignment.claim, alignment.sentence)
    if is_settled or len(alignment.sentence.sentences) == 1:
        return mismatch
    alone = [align(alignment.claim, read_closely(sentence)) for sentence in alignment.sentence.sentences]
    as_much = [number for number, one in enumerate(alone) if one.share >= alignment.share]
    if any(_first(alone[number]) is None for number in as_much):
        return None
    return mismatch or next((_opposite_within(alignment, alone[number], number) for number in as_much), None)


def _opposite_within(alignment: Alignment, alone: Alignment, number: int) -> Mismatch | None:
    """The opposite in one sentence that holds all that the claim has in several: "The pool is closed. The sauna is
    open." does not open the pool. Its places are those in the several."""
    mismatch = next((one for one in denial.opposites(alone) if contradicts(alone, one)), None)
    if mismatch is None:
        return None
    sentence = alignment.sentence
    before = sum(sentence.sentence_of[clause] < number for clause in sentence.clauses)
    return replace(mismatch, said=tuple(before + place for place in mismatch.said))


def _first(alignment: Alignment) -> Mismatch | None:
    found = ((name, mismatch) for name, check in CHECKS.items() for mismatch in check(alignment))
    counted = (mismatch for name, mismatch in found if name in SURE or contradicts(alignment, mismatch))
    return next((mismatch for mismatch in counted if not _stands_in_its_cell(alignment, mismatch)), None)


def _stands_in_its_cell(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether what differs is the figure of another cell of the row: *19* of *price per user*, not *10* of *users*."""
    return mismatch.kind == "value" and any(
        alignment.claim.terms[place].kind in FIGURES and cells.stands_in_named_cell(alignment, place)
        for place in mismatch.claimed[:1]
    )


MIN_SHARE = 0.75
MIN_SHARE_OF_CLAUSE: dict[MismatchKind, float] = {"denial": 1.0, "opposite": 0.85, "date": 0.85}
"""Share of the claim, the mismatch apart, that must stand with it to speak against the claim: in its sentence, and for
these kinds in its clause, since a sentence dates and denies more than one thing."""


def contradicts(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether a mismatch shows the claim to be false: with it stand all names and figures and nearly all else.

    A passage on something else says other figures too, and "not found" is the safer answer.
    """
    if not mismatch.excludes or _is_phase(alignment, mismatch) or is_of_another(alignment, mismatch):
        return False
    if _leaves_room(alignment, mismatch):
        return False
    claim = alignment.claim
    asked = [place for place in claim.content if place not in mismatch.claimed]
    near = _near(alignment, mismatch)
    lacking = [place for place in asked if not near & alignment.clauses_of(place)]
    lacking = [place for place in lacking if not _is_told_before(alignment, place, near)]
    enough = len(lacking) <= (1.0 - MIN_SHARE_OF_CLAUSE.get(mismatch.kind, MIN_SHARE)) * len(asked)
    return bool(asked) and enough and not any(claim.terms[place].kind in {TermKind.NAME, *FIGURES} for place in lacking)


def _leaves_room(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether both may be true for all that: on another occasion, of others where the claim or the evidence denies
    something of some, or where one says of a figure what the other denies."""
    if mismatch.kind == "denial":
        return quantity.denies_of_some(alignment)
    if mismatch.kind == "opposite":
        others = (is_of_another_occasion, duties.is_of_forbidden, ended.is_of_ended_past)
        return any(leaves_room(alignment, mismatch) for leaves_room in others)
    if mismatch.kind not in {"value", "date"} or not mismatch.claimed or not mismatch.said:
        return False
    place = mismatch.claimed[0]
    is_denied_figure = alignment.claim.terms[place].kind in FIGURES and alignment.claim.is_denied(place)
    return is_denied_figure and not alignment.sentence.is_denied(mismatch.said[0])


def _is_phase(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether the opposite may have been true at another time: a tower that was built may also have been demolished."""
    claim = alignment.claim
    is_phase = mismatch.kind == "opposite" and claim.terms[mismatch.claimed[0]].key in PHASES
    return is_phase and not any(place in alignment.pairs for place in claim.of_kind(*FIGURES))


def _near(alignment: Alignment, mismatch: Mismatch) -> set[int]:
    """The clauses in which the claim must be found for a mismatch to speak against it."""
    sentence = alignment.sentence
    clauses = {sentence.clauses[place] for place in mismatch.said} or {alignment.main}
    if mismatch.kind in MIN_SHARE_OF_CLAUSE:
        return clauses
    within = {sentence.sentence_of[clause] for clause in clauses}
    return {clause for clause, one in enumerate(sentence.sentence_of) if one in within}


def _is_told_before(alignment: Alignment, place: int, clauses: set[int]) -> bool:
    """Whether a name stands in an earlier clause of the same sentence, or before a sentence that begins with a pronoun,
    and these clauses have no other name; or a word in a clause whose subject is theirs as well."""
    sentence, term = alignment.sentence, alignment.claim.terms[place]
    if term.kind not in FIGURES and not is_verb(term):
        with_subject = (clause - 1 for clause in clauses if sentence.shares_subject(clause))
        if not alignment.clauses_of(place).isdisjoint(with_subject):
            return True
    if term.kind is not TermKind.NAME:
        return False
    within = {sentence.sentence_of[clause] for clause in clauses}
    earlier = (one for one in alignment.clauses_of(place) if one < min(clauses))
    if not any(sentence.sentence_of[one] in within or _goes_on(sentence, min(within)) for one in earlier):
        return False
    others = [one for one in sentence.of_kind(TermKind.NAME) if sentence.clauses[one] in clauses]
    return all(one in alignment.paired for one in others)


def _goes_on(reading: Reading, number: int) -> bool:
    """Whether a sentence begins with a pronoun, and so speaks of what the one before it does."""
    first = next(place for place, clause in enumerate(reading.clauses) if reading.sentence_of[clause] == number)
    return reading.words[first] in PRONOUNS
