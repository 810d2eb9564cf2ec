"""Compares several people's labels for the same claims, and derives one label for each claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from factloop.core.figure import Figure, Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.statistics.kappa import cohens_kappa
from factloop.reports.labels import PersonLabel

RESAMPLES, LEVEL = 2000, 0.95
_CLASSES = (PersonLabel.SUPPORTED, PersonLabel.NOT_SUPPORTED, PersonLabel.IRRELEVANT)
"""The labels that are compared: all except *cannot tell*."""

GivenBy = Mapping[str, PersonLabel]
"""The labels of one claim, by file."""


class DisagreementPolicy(StrEnum):
    """How to treat a claim that people label differently."""

    LEFT_OUT = "left-out"
    """The claim gets no label and is counted as left out."""
    MAJORITY = "majority"
    """The claim gets the label chosen by more than half of those who could tell. If there is none, it is left out."""


class PairAgreement(Record):
    first: str
    second: str
    alike: Figure
    """Of the claims labelled supported, not supported or irrelevant in both files, the proportion with equal labels."""
    kappa: Figure
    """Cohen's kappa for the same claims, in [-1, 1], where 0 means no better than chance."""


class PeopleAgreement(Record):
    schema_version: Literal["1.0"] = "1.0"
    rule: DisagreementPolicy
    pairs: tuple[PairAgreement, ...]
    """Pairs of files with at least one labelled claim in common."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_resamples: Count = RESAMPLES
    n_shared: Count
    """Claims labelled by at least two people."""
    n_differing: Count
    """Shared claims whose labels differ."""
    n_left_out: Count
    """Shared claims that the rule leaves out."""


def settled(given: Sequence[PersonLabel], rule: DisagreementPolicy) -> PersonLabel | None:
    """Returns None if people disagree and the rule does not select a label."""
    told = Counter(one for one in given if one is not PersonLabel.CANNOT_TELL)
    if not told:
        return PersonLabel.CANNOT_TELL
    ((label, n), *others) = told.most_common()
    if not others or (rule is DisagreementPolicy.MAJORITY and 2 * n > told.total()):
        return label
    return None


def compare_people(claims: Mapping[str, Sequence[GivenBy]], rule: DisagreementPolicy) -> PeopleAgreement:
    """Compares every pair of files. Intervals resample whole groups of claims, such as all claims from a prompt."""
    every = [given for of_group in claims.values() for given in of_group]
    shared = [[one for one in given.values() if one in _CLASSES] for given in every]
    shared = [given for given in shared if len(given) > 1]
    places = list(dict.fromkeys(place for given in every for place in given))
    pairs = (_pair(first, second, claims) for first, second in combinations(places, 2))
    return PeopleAgreement(
        rule=rule,
        pairs=tuple(one for one in pairs if one.kappa.n),
        n_shared=len(shared),
        n_differing=sum(len({*given}) > 1 for given in shared),
        n_left_out=sum(settled(given, rule) is None for given in shared),
    )


def _pair(first: str, second: str, claims: Mapping[str, Sequence[GivenBy]]) -> PairAgreement:
    tables = []
    for of_group in claims.values():
        table = np.zeros((len(_CLASSES), len(_CLASSES)))
        for given in of_group:
            if given.get(first) in _CLASSES and given.get(second) in _CLASSES:
                table[_CLASSES.index(given[first]), _CLASSES.index(given[second])] += 1.0
        if table.any():
            tables.append(table)
    cells = np.array(tables).reshape(-1, len(_CLASSES), len(_CLASSES))
    n, whole = int(cells.sum()), cells.sum(axis=0)
    alike = (
        Figure(value=float(np.trace(whole)) / n, n=n)
        if n
        else Figure(value=None, undefined=Undefined.NOT_BOTH_SCORED, n=0)
    )
    kappa = cohens_kappa(cells, np.random.default_rng(0), RESAMPLES, LEVEL)
    return PairAgreement(first=first, second=second, alike=alike, kappa=kappa)
