"""Assertions that fail if the evidence contradicts a model's output or if scores are too low."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, Unpack

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from factloop.agents.safe.conversation import Question
from factloop.agents.trustscore.records import TrustReport
from factloop.checking.checker import FactChecker, SearchSource
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.factuality import counted_claims, n_contradicted
from factloop.core.findings import Finding, unchecked
from factloop.core.records import Claim, FactualityReport, Sentence
from factloop.core.sync import run_blocking
from factloop.entrance.settings_sources import PREFIX, load_settings
from factloop.reports.claims import problems_first, views_of
from factloop.reports.figures import plural, shown_below
from factloop.setup.changes import CheckChanges
from factloop.setup.recording import Recording
from factloop.setup.settings import CheckSettings, RunSettings
from factloop.testing.running import running_test
from factloop.testing.words import factual_failure, trust_failure
from factloop.tools.search.handed_over import Documents, documents_of
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings

S = TypeVar("S", bound=RunSettings)
R = TypeVar("R", FactualityReport, TrustReport)
P = ParamSpec("P")
T = TypeVar("T")
Files = str | Path | Sequence[str | Path]
Docs = str | Path | Document | Sequence[str | Path | Document]


class _Missed(AssertionError, Generic[R]):
    def __init__(self, message: str, report: R) -> None:
        self.report: R = report
        super().__init__(message)


class NotFactual(_Missed[FactualityReport]):
    """An answer does not meet a requirement. `report` is the complete report."""


class NotTrustworthy(_Missed[TrustReport]):
    """An answer's score is missing or too low. `report` is the complete report."""


def _settings(kind: type[S], given: Mapping[str, Any]) -> S:
    test = running_test()
    ini = {} if test is None else test.defaults
    known = {
        name: value
        for name, value in ini.items()
        if name in kind.model_fields and not os.environ.get(PREFIX + name.upper())
    }
    folder = Path.cwd() if test is None else test.root
    return load_settings(kind, {**known, **given}, os.environ, folder, given_in="the assertion or pytest's ini file")


def _recording(given: str | Path | Recording | None) -> str | Path | Recording | None:
    test = running_test()
    return given if given is not None or test is None else test.recording


def _paths(paths: Sequence[str | Path]) -> list[str]:
    """Looks for paths in the test's folder if they do not exist in the working directory."""
    test = running_test()
    if test is None:
        return [str(path) for path in paths]
    beside = {path: test.folder / path for path in paths}
    return [str(there if there.exists() and not Path(path).exists() else path) for path, there in beside.items()]


def _blocking(asynchronous: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @wraps(asynchronous)
    def assertion(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return run_blocking(asynchronous(*args, **kwargs))
        except (AssertionError, FactloopError) as error:
            raise _bare(error) from None

    assertion.__name__ = assertion.__qualname__ = asynchronous.__name__.removeprefix("a")
    return assertion


def _refuse_beside(owner: str, given: Mapping[str, object]) -> None:
    """Raises ConfigError if settings are passed along with a checker or scorer, which has its own settings."""
    named = next((name for name, value in given.items() if value not in (None, (), [])), None)
    if named is not None:
        raise ConfigError(f"{named} is a setting of the {owner}: pass it to the {owner}, or omit the {owner}")


def _bare(error: Exception) -> Exception:
    error.__notes__ = []
    return error.with_traceback(None)


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
            raise ConfigError(f"min_precision = {self.min_precision!r}: must be between 0 and 1")
        for name in ("min_supported", "max_contradicted", "max_unscored", "max_unchecked", "min_scored"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"{name} = {value!r}: must not be negative")

    def missed_by(self, report: FactualityReport) -> list[str]:
        counts, contradicted, missed = report.counts, n_contradicted(counted_claims(report)), []
        why = "no claims were found in the response" if not report.claims else "no claims were scored"
        if self.min_scored is not None and counts.scored < self.min_scored:
            there_are = f"found {counts.scored}" if counts.scored else why
            missed.append(f"at least {plural(self.min_scored, 'scored claim')}, but {there_are}")
        if self.min_precision is not None and (report.precision is None or report.precision < self.min_precision):
            reached = f"undefined: {why}"
            if report.precision is not None:
                reached = f"{shown_below(report.precision, self.min_precision, 'g')} (n = {counts.scored})"
            missed.append(f"precision at least {str(self.min_precision).removesuffix('.0')}, but it is {reached}")
        if self.min_supported is not None and counts.supported < self.min_supported:
            missed.append(f"at least {plural(self.min_supported, 'supported claim')}, but found {counts.supported}")
        at_most = (
            (self.max_contradicted, contradicted, "contradicted claim"),
            (self.max_unscored, counts.unscored, "unscored claim"),
            (self.max_unchecked, len(_unchecked(report)), "unchecked passage"),
        )
        missed += [
            f"at most {plural(most, what)}, but found {n}" for most, n, what in at_most if most is not None and n > most
        ]
        return missed


def _unchecked(report: FactualityReport) -> list[Claim | Sentence]:
    return [one for one, finding in unchecked(report) if finding is not Finding.UNSCORED]


async def aassert_factual(
    response: str,
    *,
    docs: Docs = (),
    documents: Documents | None = None,
    question: Question | None = None,
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
    **settings: Unpack[CheckChanges],
) -> FactualityReport:
    """Checks `response` and returns the report. Raises NotFactual (an AssertionError) if a requirement is not met.

    By default, the assertion fails if there are contradicted claims, unscored claims, or unchecked content
    (`max_unchecked`). Unchecked content consists of claims irrelevant to the question, code that was not read, and
    statements without a claim. The assertion also fails if no claims were scored (`min_scored`), for example because
    the response is empty. Claims without evidence lower the precision, so use `min_precision` to limit them. None
    removes a limit.

    `docs` are files, folders or globs, which may be relative to the test file, or LangChain documents. `documents` are
    the documents on which the response is based, as in `FactChecker.acheck`. These documents are searched first, and
    are the only source if there are no files and no search. If `documents` is then empty, nothing can be judged.
    `question` is the question that the response answers.

    Other settings, named as in `CheckSettings`, default to the environment (`FACTLOOP_...`), pytest's ini file and
    `factloop.toml`. With the pytest plugin, model and search answers come from the test's recording, unless you pass a
    `checker`, which uses its own recording. Otherwise, the assertion costs as much as a check. Raises ConfigError,
    RecordingMissing or DataError.
    """
    __tracebackhide__ = True
    try:
        required = _FactualThresholds(
            min_precision, min_supported, max_contradicted, max_unscored, max_unchecked, min_scored
        )
        each = [docs] if isinstance(docs, str | Path | Document) else docs
        paths = _paths([item for item in each if not isinstance(item, Document)])
        given = _given(documents, [item for item in each if isinstance(item, Document)])
        if checker is not None:
            own = {"model": model, "search": search, "docs": paths, "recording": recording}
            _refuse_beside("checker", {**own, **settings})
            report = await checker.acheck(response, question, documents=given)
        else:
            async with build_checker(model, search=search, docs=paths, recording=recording, **settings) as built:
                report = await built.acheck(response, question, documents=given)
    except FactloopError as error:
        raise _bare(error) from None
    missed = required.missed_by(report)
    if missed:
        at_fault = [one for one in problems_first(views_of(report.claims)) if one.is_problem]
        raise NotFactual(factual_failure(missed, report, at_fault, _unchecked(report)), report)
    return report


assert_factual = _blocking(aassert_factual)
"""Synchronous version of `aassert_factual`."""


def _given(documents: Documents | None, among_docs: Sequence[Document]) -> Documents | None:
    if isinstance(documents, BaseRetriever | VectorStore) and not among_docs:
        return documents
    found = documents_of("documents", documents)
    return tuple(among_docs) or None if found is None else (*found, *among_docs)


def build_checker(
    model: str | BaseChatModel | None = None,
    *,
    search: SearchSource | Sequence[SearchSource] = (),
    docs: Sequence[str | Path] = (),
    recording: str | Path | Recording | None = None,
    **settings: Unpack[CheckChanges],
) -> FactChecker:
    """Builds a checker for assertions with the test's default settings and recording."""
    base = _settings(CheckSettings, settings)
    return FactChecker(model, search=search, docs=docs, settings=base, recording=_recording(recording))


@dataclass(frozen=True)
class _TrustThresholds:
    min_trust_bc: float | None
    min_trust_fc: float | None
    min_trust_ov: float | None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            raise ConfigError("assert_trustworthy needs `min_trust_bc`, `min_trust_fc` or `min_trust_ov`")
        for name, value in given.items():
            if not 0.0 <= value <= 1.0:
                raise ConfigError(f"{name} = {value!r}: must be between 0 and 1")

    def missed_by(self, report: TrustReport) -> list[str]:
        scores = (
            ("TrustBC", self.min_trust_bc, report.trust_bc.value),
            ("TrustFC", self.min_trust_fc, report.trust_fc.value),
            ("TrustOV", self.min_trust_ov, report.trust_ov.value),
        )
        return [
            f"{name} at least {least:g}, but {'it has no value' if value is None else f'it is {value:g}'}"
            for name, least, value in scores
            if least is not None and (value is None or value < least)
        ]


async def aassert_trustworthy(
    question: str,
    response: str | None = None,
    *,
    min_trust_bc: float | None = None,
    min_trust_fc: float | None = None,
    min_trust_ov: float | None = None,
    subject_model: str | BaseChatModel | None = None,
    judge_model: str | BaseChatModel | None = None,
    corpus: Files = (),
    scorer: TrustScorer | None = None,
    recording: str | Path | Recording | None = None,
    **settings: Any,
) -> TrustReport:
    """Scores an answer and returns its TrustScore. Raises NotTrustworthy (an AssertionError) if a score is too low.

    If `response` is None, the subject is asked for a response. An unscored part meets none of its requirements.
    Settings, recordings, errors and costs are as in `aassert_factual`, but `settings` are those of `TrustSettings`.
    """
    __tracebackhide__ = True
    try:
        required = _TrustThresholds(min_trust_bc, min_trust_fc, min_trust_ov)
        paths = _paths([corpus] if isinstance(corpus, str | Path) else list(corpus))
        if scorer is not None:
            own = {"subject_model": subject_model, "judge_model": judge_model, "recording": recording, "corpus": paths}
            _refuse_beside("scorer", {**own, **settings})
            report = await scorer.ascore(question, response)
        else:
            base = _settings(TrustSettings, settings)
            tape = _recording(recording)
            async with TrustScorer(
                subject_model, judge_model=judge_model, corpus=paths, settings=base, recording=tape
            ) as built:
                report = await built.ascore(question, response)
    except FactloopError as error:
        raise _bare(error) from None
    missed = required.missed_by(report)
    if missed:
        raise NotTrustworthy(trust_failure(missed, report), report)
    return report


assert_trustworthy = _blocking(aassert_trustworthy)
"""Synchronous version of `aassert_trustworthy`."""
