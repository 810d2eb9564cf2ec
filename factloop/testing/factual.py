"""`assert_factual`: a test fails where an answer says what the evidence does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel

from factloop.checking.checker import FactChecker, SearchSource
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.factuality import counted_claims, n_contradicted
from factloop.core.findings import Finding, unchecked
from factloop.core.records import Claim, FactualityReport, Sentence
from factloop.reports.claims import problems_first, views_of
from factloop.reports.figures import plural, shown_below
from factloop.setup.recording import Recording
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import SourceMode, Sources
from factloop.testing.defaults import (
    bare,
    blocking,
    note_spending,
    paths_here,
    recording_here,
    refuse_beside,
    settings_here,
)
from factloop.testing.words import factual_failure
from factloop.tools.search.given import GivenDocuments
from factloop.tools.search.handed_over import documents_of

Docs = str | Path | Document | Sequence[str | Path | Document]
Documents = str | Document | Sequence[str | Document | tuple[Document, float]]
"""Texts, not paths; LangChain documents, also with their scores."""


class NotFactual(AssertionError):
    """An answer missed a requirement. `report` is the whole report."""

    def __init__(self, message: str, report: FactualityReport) -> None:
        self.report = report
        super().__init__(message)


@dataclass(frozen=True)
class _FactualThresholds:
    min_precision: float | None
    min_supported: int | None
    max_contradicted: int | None
    max_unscored: int | None
    max_unchecked: int | None
    min_scored: int | None

    def __post_init__(self) -> None:
        if self.min_precision is not None and not 0.0 <= self.min_precision <= 1.0:
            raise ConfigError(f"min_precision = {self.min_precision!r}: precision is a share between 0 and 1")
        for name in ("min_supported", "max_contradicted", "max_unscored", "max_unchecked", "min_scored"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"{name} = {value!r}: a number is not negative")

    def missed_by(self, report: FactualityReport) -> list[str]:
        """The requirements that the report misses, in words."""
        counts, contradicted, missed = report.counts, n_contradicted(counted_claims(report)), []
        why = "no claim was found in the response" if not report.claims else "no claim was scored"
        if self.min_scored is not None and counts.scored < self.min_scored:
            there_are = f"there are {counts.scored}" if counts.scored else why
            missed.append(f"at least {plural(self.min_scored, 'scored claim')}, and {there_are}")
        if self.min_precision is not None and (report.precision is None or report.precision < self.min_precision):
            reached = f"undefined: {why}"
            if report.precision is not None:
                reached = f"{shown_below(report.precision, self.min_precision, 'g')} (n = {counts.scored})"
            missed.append(f"precision at least {str(self.min_precision).removesuffix('.0')}, and it is {reached}")
        if self.min_supported is not None and counts.supported < self.min_supported:
            missed.append(f"at least {self.min_supported} supported claims, and there are {counts.supported}")
        at_most = (
            (self.max_contradicted, contradicted, "contradicted claims"),
            (self.max_unscored, counts.unscored, "unscored claims"),
            (self.max_unchecked, len(_unchecked(report)), "unchecked passages"),
        )
        missed += [
            f"at most {most} {what}, and there are {n}" for most, n, what in at_most if most is not None and n > most
        ]
        return missed


def _unchecked(report: FactualityReport) -> list[Claim | Sentence]:
    """Unchecked content, other than claims whose check failed."""
    return [one for one, finding in unchecked(report) if finding is not Finding.UNSCORED]


async def aassert_factual(
    response: str,
    *,
    docs: Docs = (),
    documents: Documents | None = None,
    prompt: str | None = None,
    min_precision: float | None = None,
    max_contradicted: int | None = 0,
    max_unscored: int | None = 0,
    max_unchecked: int | None = 0,
    min_supported: int | None = None,
    min_scored: int | None = 1,
    model: str | BaseChatModel | None = None,
    search: SearchSource | Sequence[SearchSource] = (),
    checker: FactChecker | None = None,
    recording: str | Path | Recording | None = None,
    **settings: Any,
) -> FactualityReport:
    """The report on `response`, where it holds what is required of it; else NotFactual, an AssertionError.

    By default contradicted and unscored claims miss it, and so does unchecked content (`max_unchecked`): claims beside
    the question, code that was not read, statements in which no claim was found. So does a response of which no claim
    was scored, such as an empty one (`min_scored`). Claims without evidence lower the precision, so `min_precision`
    limits these. None lifts a limit.

    `docs` are files, folders, globs (also beside the test file), or LangChain documents. `documents` are what the
    response was written from, as a retriever returned it: LangChain documents, with or without scores, or texts; where
    it returned none, nothing can be judged. Documents are searched before anything else, and alone where there are
    neither files nor a search. `prompt` is the question that the response answers.

    What is not given comes from the environment (`FACTLOOP_...`), pytest's ini file and `factloop.toml`; `settings` are
    those of `CheckSettings`. In a test under the plugin answers of models and searches come from the test's recording,
    unless a `checker` is given, which has its own. Otherwise it costs what a check costs. Raises ConfigError,
    RecordingMissing, DataError.
    """
    __tracebackhide__ = True
    try:
        required = _FactualThresholds(
            min_precision, min_supported, max_contradicted, max_unscored, max_unchecked, min_scored
        )
        if "question" in settings:
            raise ConfigError("the question that the response answers is given as prompt, not as question")
        each = [docs] if isinstance(docs, str | Path | Document) else docs
        paths = paths_here([item for item in each if not isinstance(item, Document)])
        given = _given(documents, [item for item in each if isinstance(item, Document)])
        if checker is not None:
            own = {"model": model, "search": search, "docs": paths, "recording": recording}
            refuse_beside("checker", {**own, **settings})
            report = await _checked(checker, response, prompt, given)
        else:
            async with build_checker(model, search=search, docs=paths, recording=recording, **settings) as built:
                report = await _checked(built, response, prompt, given)
    except FactloopError as error:
        raise bare(error) from None
    missed = required.missed_by(report)
    if missed:
        at_fault = [one for one in problems_first(views_of(report.claims)) if one.is_problem]
        raise NotFactual(factual_failure(missed, report, at_fault, _unchecked(report)), report)
    return report


assert_factual = blocking(aassert_factual)
"""`aassert_factual` for tests that are not asynchronous."""


def _given(documents: Documents | None, among_docs: Sequence[Document]) -> tuple[Document, ...] | None:
    """All documents that are no paths; None where none were given, empty where a search found none."""
    found = documents_of("documents", documents)
    return tuple(among_docs) or None if found is None else (*found, *among_docs)


async def _checked(
    checker: FactChecker, response: str, prompt: str | None, given: tuple[Document, ...] | None
) -> FactualityReport:
    sources = None
    if given is not None:
        mode: SourceMode = "factuality" if checker.has_sources else "faithfulness"
        sources = Sources((GivenDocuments(given),) if given else (), mode)
    report = await checker.acheck(response, prompt, sources=sources)
    note_spending(report.usage, len(report.claims))
    return report


def build_checker(
    model: str | BaseChatModel | None = None,
    *,
    search: SearchSource | Sequence[SearchSource] = (),
    docs: Sequence[str | Path] = (),
    recording: str | Path | Recording | None = None,
    **settings: Any,
) -> FactChecker:
    """A checker as assertions use it: defaults from the surroundings, answers from the running test's recording."""
    base = settings_here(CheckSettings, settings)
    return FactChecker(model, search=search, docs=docs, settings=base, recording=recording_here(recording))
