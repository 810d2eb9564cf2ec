"""Labelled claims for debiasing, and how a finished run yields them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from factloop.core.errors import ConfigError
from factloop.core.factuality import counted_claims
from factloop.core.records import Fingerprint
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.debiasing.samples import LabelledClaims
from factloop.evaluation.runs.reading import read_run
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.run_claims import VERDICTS, ClaimOrigin, RunClaims, origin_of, text_of

_LABELS = {FactLabel.SUPPORTED: 1, FactLabel.NOT_SUPPORTED: 0}


@dataclass(frozen=True)
class CalibrationSample:
    """Claims that people labelled and an evaluator judged."""

    data: str
    """The name of the data, and its hash if it is a file."""
    labels: tuple[int, ...]
    """1 supported, 0 not."""
    verdicts: tuple[int | None, ...]
    """1 supported, 0 not, None without a verdict."""
    groups: tuple[str, ...] | None = None
    """The prompt or response of each claim; None: all are independent."""
    n_irrelevant: int = 0
    """Claims labelled or judged irrelevant, which are not among these."""
    fingerprint: Fingerprint | None = None
    """The fingerprint of the run that judged them; None for a file."""
    judges: frozenset[str] = frozenset()
    """The evaluators that a file names; empty where it does not name that of every claim."""
    kind: Literal["responses", "factscore"] | None = None
    of_systems: tuple[str, ...] | None = None
    """The system that wrote each claim; None where that is not known."""
    probabilities: tuple[float, ...] | None = None
    """How likely each claim was to be drawn for labelling; None: all as likely."""
    origins: tuple[ClaimOrigin, ...] | None = None
    """What each claim is recognised by; None where the file says nothing."""
    is_own: tuple[bool, ...] | None = None
    """Whether each claim is one of the run that is corrected; None before it was held against one."""
    scores: tuple[float | None, ...] | None = None
    """The evaluator's score of each claim; None where none is known."""
    irrelevant: tuple[ClaimOrigin, ...] = ()
    """What the claims labelled or judged irrelevant are recognised by, where it is known."""
    n_judged_otherwise: int = 0
    """Claims of the run that is corrected, which have another verdict there. Then none of these counts as its own."""
    n_repeated: int = 0
    """Rows of a file that say again what another row says; they are not among the claims."""

    @property
    def systems(self) -> frozenset[str]:
        """The systems that wrote the claims, as far as known."""
        return frozenset(self.of_systems or ())

    def held_against(self, run: RunClaims, *, can_own: bool = True) -> CalibrationSample:
        """The same, its groups named as the run names its prompts, and the run's own claims known as such.

        Without `can_own`, which is said of claims that people split, those of a system are only where they are all the
        claims of the responses that they are of: some that are alike by chance are no draw of the evaluator's own.
        """
        if self.origins is None:
            return self
        prompts = [run.prompt(one) for one in self.origins]
        n_judged_otherwise = run.n_judged_otherwise(self.origins, self.verdicts)
        is_own = (False,) * len(self.origins) if n_judged_otherwise else run.own(self.origins)
        if not can_own:
            whole = run.systems_labelled_whole((*self.origins, *self.irrelevant))
            systems = self.of_systems or ("",) * len(is_own)
            is_own = tuple(own and system in whole for own, system in zip(is_own, systems, strict=True))
        if not any(prompts):
            return replace(self, is_own=is_own, n_judged_otherwise=n_judged_otherwise)
        names = self.groups or [f"label {place} of {self.data}" for place in range(len(self.labels))]
        groups = tuple(prompt or name for prompt, name in zip(prompts, names, strict=True))
        return replace(self, groups=groups, is_own=is_own, n_judged_otherwise=n_judged_otherwise)

    def is_from(self, system: str, prompts: Collection[str]) -> bool:
        """Whether any of the claims comes from the system or, where theirs is not known, from one of the prompts."""
        if self.of_systems is not None:
            return system in self.systems
        return not {*(self.groups or ())}.isdisjoint(prompts)

    def for_system(self, name: str) -> LabelledClaims:
        """The system's own claims where there are some, and otherwise all, none of which is then of its own run."""
        own = [place for place, one in enumerate(self.of_systems or ()) if one == name]
        kept = own or range(len(self.labels))
        is_of_others = self.of_systems is not None and not own
        return LabelledClaims(
            [self.labels[place] for place in kept],
            [self.verdicts[place] for place in kept],
            None if self.groups is None else [self.groups[place] for place in kept],
            None if self.probabilities is None else [self.probabilities[place] for place in kept],
            None if self.is_own is None else [self.is_own[place] and not is_of_others for place in kept],
            None if self.scores is None else [self.scores[place] for place in kept],
        )


def sample_of_run(place: str | Path, evaluator: str | None) -> CalibrationSample:
    """The labelled claims of a finished run. Raises ConfigError where it has none, DataError where it is broken."""
    if evaluator is not None:
        raise ConfigError(f"{place}: a run has one evaluator; name one ({evaluator!r}) for the predictions of an audit")
    run = read_run(place)
    claims: list[_Labelled] = []
    irrelevant: list[ClaimOrigin] = []
    systems: list[str] = []
    for judged in run.responses():
        found, others = _labelled(judged)
        claims += found
        irrelevant += others
        systems += [judged.system] * len(found)
    if not claims:
        raise ConfigError(f"{place}: no claim of this run has a label; name a run of factloop eval factscore")
    labels, verdicts, groups, origins, scores = zip(*claims, strict=True)
    return CalibrationSample(
        data=f"a run over {run.summary.data}",
        labels=labels,
        verdicts=verdicts,
        groups=groups,
        n_irrelevant=len(irrelevant),
        irrelevant=tuple(irrelevant),
        fingerprint=run.summary.fingerprint,
        kind=run.summary.kind,
        of_systems=tuple(systems),
        origins=origins,
        scores=scores,
    )


_Labelled = tuple[int, int | None, str, ClaimOrigin, float | None]


def _labelled(judged: JudgedResponse) -> tuple[list[_Labelled], list[ClaimOrigin]]:
    """Label, verdict, prompt, origin and score of each claim that both call supported or not; the others' origins.

    A claim that repeats another is among them where it counts in the run's figures.
    """
    claims: list[_Labelled] = []
    irrelevant: list[ClaimOrigin] = []
    report = judged.report
    for claim in counted_claims(report):
        label, verdict = judged.labels.get(claim.id), claim.judgement.verdict
        if label is None:
            continue
        origin = origin_of(
            system=judged.system,
            group=judged.prompt_id,
            response_id=judged.id,
            prompt=report.prompt,
            response=report.response,
            claim=text_of(claim),
        )
        if label in _LABELS and verdict in VERDICTS:
            claims.append((_LABELS[label], VERDICTS[verdict], judged.prompt_id, origin, claim.judgement.score))
        else:
            irrelevant.append(origin)
    return claims, irrelevant
