"""Provides `TrustScorer`, which calculates the TrustScore of an answer to a question."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from factloop.agents.trustscore.records import DistractorSet, LongFormTrustReport, TrustBC, TrustReport, TrustRun
from factloop.core.errors import ConfigError, DataError
from factloop.core.extras import require
from factloop.core.given_text import check_given
from factloop.core.records import Claim, FactualityReport, Verdict
from factloop.core.sync import run_blocking
from factloop.setup.caching.folder import INDEXES, cache_folder
from factloop.setup.caching.opening import tidy
from factloop.setup.chat_model import name_of_model
from factloop.setup.pace import Pace
from factloop.setup.per_loop import ClosesPerLoop, PerLoop
from factloop.setup.recording import Recording, UsedRecording
from factloop.setup.run_directory import RunDirectory
from factloop.setup.sources import Sources
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import as_they_come
from factloop.tools.models.wrapped import AnyModel, unwrapped
from factloop.tools.search.adapter import as_search_tool
from factloop.tools.search.base import SearchTool
from factloop.tools.search.given import GivenIndexes
from factloop.tools.search.handed_over import Documents
from factloop.trust.means import summarise
from factloop.trust.question_answers import OwnAnswer, QuestionAnswer
from factloop.trust.settings import SubjectModel, TrustSettings

if TYPE_CHECKING:
    from factloop.trust.preparing import TrustSetup
    from factloop.trust.scoring import TrustScoring

MOST_AT_ONCE = 64  # maximum number of concurrently scored answers if the settings do not limit concurrency


class TrustScorer(ClosesPerLoop):
    """Scores answers with TrustScore: does the model stand by its answer, and do documents support it?

        async with TrustScorer("openai:gpt-4o-mini", judge_model="openai:gpt-4o", corpus="passages.tsv") as scorer:
            report = await scorer.ascore("Who built the first temple in Jerusalem?", "King Solomon built it.")

    TrustBC requires a subject, and TrustFC requires a corpus.
    """

    def __init__(
        self,
        subject_model: AnyModel | None = None,
        *,
        judge_model: AnyModel | None = None,
        corpus: str | Path | Sequence[str | Path] | SearchTool | BaseRetriever | BaseTool = (),
        subjects: Mapping[str, SubjectModel] | None = None,
        settings: TrustSettings | None = None,
        recording: str | Path | Recording | None = None,
        pace: Pace | None = None,
        budget: Budget | None = None,
        **changes: Any,
    ) -> None:
        """Creates a scorer without opening connections. The corpus is read when the first answer is scored.

        Args:
            subject_model: The model whose beliefs are tested, as a name or a LangChain chat model.
            judge_model: The model that judges passages, as a name or a LangChain chat model. By default, a small
                encoder or the baseline is used.
            corpus: Files, folders or globs, or a factloop or LangChain search tool. Replaces the paths in `settings`.
            subjects: The models behind several systems, instead of `subject_model`. An `OwnAnswer` names its subject.
            settings: Base settings, which `changes` override.
            recording: Has the same meaning as in `FactChecker`, as do `pace` and `budget`.
            changes: Any other settings, named as in `TrustSettings`.

        Raises:
            ConfigError: A setting is invalid.
        """
        subject_model, judge_model = unwrapped(subject_model), unwrapped(judge_model)
        paths = _paths(corpus)
        named = {
            "subject_model": name_of_model("subject_model", subject_model),
            "judge_model": name_of_model("judge_model", judge_model),
            "corpus": tuple(str(path) for path in paths or ()),
        }
        self.settings = TrustSettings.of(
            settings,
            **{name: value for name, value in named.items() if value},
            **UsedRecording.settings(recording),
            **changes,
        )
        self._recording = UsedRecording(recording, self.settings)
        self._subject = subject_model if isinstance(subject_model, BaseChatModel) else None
        self._judge = judge_model if isinstance(judge_model, BaseChatModel) else None
        self._corpus = as_search_tool(corpus) if paths is None else None
        self._subjects = dict(subjects or {})
        self._opening = threading.Lock()
        self.pace = Pace(self.settings) if pace is None else pace
        self._budget = budget
        self._indexes = GivenIndexes()
        self._open: PerLoop[TrustScoring] = PerLoop()

    @property
    def corpus(self) -> SearchTool | None:
        """The documents that TrustFC searches, read and indexed on first use. Raises ConfigError or DataError."""
        with self._opening:
            if self._corpus is None and self.settings.corpus:
                from factloop.tools.search.documents.search import DocumentSearch

                folder = cache_folder(self.settings, INDEXES)
                self._corpus = DocumentSearch(
                    self.settings.corpus,
                    cache_dir=folder,
                    in_memory=folder is None,
                    strict=self.settings.fail_if_unreadable,
                )
                tidy(self.settings)
            return self._corpus

    async def ascore(
        self,
        question: str,
        response: str | None = None,
        *,
        id: str = "1",
        documents: Documents | None = None,
        sources: Sources | None = None,
        run_dir: str | Path | None = None,
        meter: UsageMeter | None = None,
    ) -> TrustReport:
        """Scores one response. Costs money if a model is used.

        Args:
            question: The question that the response answers.
            response: The answer. If None, the subject is asked for one.
            id: The answer's id in the report.
            documents: Documents supplied with this response, as in `FactChecker`. They are searched instead of the
                corpus. If they contain no text, there is no TrustFC.
            sources: Sources whose only tool searches the documents. Cannot be combined with `documents`.
            run_dir: A folder that makes the run resumable. If the run is started again with the same arguments, only
                calls that were in flight are paid for again.
            meter: Counts the cost of the score, even if scoring is stopped.

        Returns:
            The report. Missing parts are unscored, and the report says why.

        Raises:
            ConfigError: A setting is invalid, or a model rejects the key.
            DataError: A document or the run directory cannot be read.
        """
        item = _answer(id, question, response)
        if documents is not None and sources is not None:
            raise ConfigError("pass either `documents` or `sources`, not both: `sources` can contain documents")
        if documents is not None:
            tool = await self._indexes.tool_for(documents)
            sources = Sources(() if tool is None else (tool,))
        async with self._run([item], run_dir, sources) as (scoring, directory):
            report = await scoring.report(item, meter)
            if directory is not None:
                directory.keep(report)
            return report

    def score(
        self,
        question: str,
        response: str | None = None,
        *,
        id: str = "1",
        documents: Documents | None = None,
        sources: Sources | None = None,
        run_dir: str | Path | None = None,
    ) -> TrustReport:
        """Synchronous version of `ascore`. Also works while an event loop is running, for example in a notebook."""
        return run_blocking(
            self.ascore(question, response, id=id, documents=documents, sources=sources, run_dir=run_dir)
        )

    async def astream(
        self, items: Iterable[QuestionAnswer], *, run_dir: str | Path | None = None
    ) -> AsyncGenerator[TrustReport | TrustRun, None]:
        """Yields each report as soon as it is ready, in any order, and finally the complete run. If you stop early,
        close the generator (`contextlib.aclosing`). Otherwise works like `ascore`."""
        given, started = list(items), time.perf_counter()
        places: dict[str, int] = {}
        for place, item in enumerate(given):
            if places.setdefault(item.id, place) != place:
                raise DataError(f"two answers have the id {item.id!r}; ids must be unique")
        async with self._run(given, run_dir) as (scoring, directory):
            reports: list[TrustReport] = []
            async with aclosing(as_they_come(given, scoring.report, at_once=self._at_once)) as done:
                async for report in done:
                    reports.append(report)
                    yield report
            ordered = sorted(reports, key=lambda report: places[report.id])
            run = _whole(ordered, time.perf_counter() - started)
            if directory is not None:
                directory.keep(run)
        yield run

    async def ascore_many(self, items: Iterable[QuestionAnswer], *, run_dir: str | Path | None = None) -> TrustRun:
        """Scores several answers and returns their reports in the same order. Otherwise works like `ascore`."""
        async with aclosing(self.astream(items, run_dir=run_dir)) as done:
            async for item in done:
                if isinstance(item, TrustRun):
                    return item
        raise AssertionError("the run ended without a report")

    async def ascore_claims(
        self, factuality: FactualityReport, *, run_dir: str | Path | None = None, meter: UsageMeter | None = None
    ) -> LongFormTrustReport:
        """Returns TrustBC for each claim that SAFE found in a long response, alongside SAFE's verdict.

        The subject must distinguish each relevant claim from its distractors, which the paper leaves to future work
        (A.1). `meter` works as in `ascore`. Raises ConfigError if there is no subject.
        """
        if self._subject is None and self.settings.subject_model is None:
            raise ConfigError("TrustBC needs a subject model; set --subject-model")
        started, meter = time.perf_counter(), meter or UsageMeter()
        topic = (factuality.prompt or "").strip()
        if self.settings.samples and not topic:
            raise ConfigError("to use `samples`, set the question that the long answer responds to")
        relevant = (claim for claim in factuality.claims if claim.judgement.verdict is not Verdict.IRRELEVANT)
        asked = [claim for claim in relevant if claim.duplicate_of is None]
        statements = [
            QuestionAnswer(id=claim.id, question=topic or "-", response=claim.self_contained) for claim in asked
        ]
        async with self._run(statements, run_dir) as (scoring, directory):

            async def one(claim: Claim) -> tuple[str, TrustBC]:
                return claim.id, await scoring.belief_in(claim, topic, meter)

            async with aclosing(as_they_come(asked, one, at_once=self._at_once)) as done:
                found = {claim_id: result async for claim_id, result in done}
            sampled = await scoring.sampled(topic, asked, meter)
            report = scoring.long_form(factuality, found, sampled, meter, time.perf_counter() - started)
            if directory is not None:
                directory.keep(report)
            return report

    async def adistractors(
        self, question: str, response: str, *, n: int | None = None, references: Sequence[str] = ()
    ) -> DistractorSet:
        """Returns the distractors that would be used for this response. Free, unless the judge model proposes
        distractors (`distractors="model"`), which takes one call. The judge does not propose `references`."""
        require("trust", "a distractor")
        from factloop.trust.distractor_sources import make_distractors

        wanted = self.settings.wanted_distractors if n is None else n
        return await make_distractors(
            self.settings, question, response, n=wanted, references=references, judge=self._judge
        )

    async def aopen(self) -> None:
        """Opens everything now rather than with the first answer. Costs nothing. Raises ConfigError or DataError."""
        await self._load()
        await self._open.open(self._open_shared)

    @asynccontextmanager
    async def _run(
        self, items: Sequence[QuestionAnswer], run_dir: str | Path | None, sources: Sources | None = None
    ) -> AsyncIterator[tuple[TrustScoring, RunDirectory | None]]:
        for item in items:
            _check_answer(item.id, item.question, item.response)
            if isinstance(item, OwnAnswer) and item.subject not in self._subjects:
                raise ConfigError(f"no subject model is set for {item.subject!r}; add one to `subjects`")
        if run_dir is None:
            with self._recording.in_use():
                await self._load()
                async with self._open.used(self._open_shared) as scoring:
                    yield scoring if sources is None else scoring.over(sources), None
            return
        await self._load()
        with RunDirectory(Path(run_dir)) as directory:
            setup = await asyncio.to_thread(self._setup)
            try:
                setup = setup if sources is None else setup.over(sources)
                directory.claim(_configuration(setup, items))
                scoring = _opened(setup, self.pace, journal=directory.journal)
            except BaseException:
                await setup.aclose()
                raise
            try:
                yield scoring, directory
            finally:
                await scoring.aclose()

    def _open_shared(self) -> TrustScoring:
        return _opened(self._setup(), self.pace, budget=self._budget)

    async def _load(self) -> None:
        await asyncio.to_thread(_load_tables)
        await asyncio.to_thread(lambda: self.corpus)

    def _setup(self) -> TrustSetup:
        from factloop.trust.preparing import prepare_trust

        tape = self._recording.tape
        return prepare_trust(
            self.settings, self.corpus, subject=self._subject, judge=self._judge, tape=tape, subjects=self._subjects
        )

    @property
    def _at_once(self) -> int:
        return self.settings.concurrency or MOST_AT_ONCE


def _load_tables() -> None:
    from factloop.trust.distractor_sources import load_tables

    load_tables()
    import_module("factloop.trust.scoring")  # this module is large and would block the event loop if imported later


def _opened(
    setup: TrustSetup, pace: Pace, *, journal: Path | None = None, budget: Budget | None = None
) -> TrustScoring:
    from factloop.trust.scoring import open_trust_scoring

    return open_trust_scoring(setup, journal=journal, pace=pace, budget=budget)


def _whole(reports: Sequence[TrustReport], elapsed_s: float) -> TrustRun:
    total = UsageMeter()
    for report in reports:
        total.add(report.usage)
    return TrustRun(
        reports=tuple(reports),
        summary=summarise(reports),
        usage=total.snapshot(elapsed_s),
        created_at=datetime.now(UTC),
        warnings=tuple(dict.fromkeys(warning for report in reports for warning in report.warnings)),
    )


def _paths(corpus: object) -> tuple[str | Path, ...] | None:
    if isinstance(corpus, str | Path):
        return (corpus,)
    if isinstance(corpus, Sequence) and all(isinstance(path, str | Path) for path in corpus):
        return tuple(corpus)
    return None


def _answer(id: str, question: str, response: str | None) -> QuestionAnswer:
    """Raises DataError if the response is blank, because a `QuestionAnswer` would treat it as missing."""
    _check_answer(str(id), question, response)
    return QuestionAnswer(id=id, question=question, response=response)


def _check_answer(id: str, question: str, response: str | None) -> None:
    check_given("id", id)
    check_given("question", question)
    if response is not None:
        check_given("response", response)


def _configuration(setup: TrustSetup, items: Sequence[QuestionAnswer]) -> dict[str, Any]:
    """Returns what all attempts at a run must share. Versions may differ, because answers already paid for are kept."""
    later = () if setup.settings.samples else ("samples",)  # so that earlier runs can be resumed
    kept = setup.fingerprint.model_dump(mode="json", exclude={"versions", "factloop_version", *later})
    asks = setup.subject is not None or bool(setup.subjects)
    asked: dict[str, Any] = {"logprobs": setup.settings.logprobs} if asks else {}
    if setup.subjects:
        asked["subjects"] = {
            name: setup.fingerprint_of(chat).model_dump(mode="json", include=_OF_SUBJECT)
            for name, chat in setup.subjects.items()
        }
    proposes = setup.settings.distractors == "model"
    texts = json.dumps([_asked_of(item, proposes=proposes) for item in items])
    return {"answers": hashlib.sha256(texts.encode()).hexdigest(), **asked, **kept}


_OF_SUBJECT = {"subject_model", "subject_base_url", "subject_sampling"}


def _asked_of(item: QuestionAnswer, *, proposes: bool) -> list[Any]:
    """References affect the scores only if a model proposes distractors."""
    own = [item.subject] if isinstance(item, OwnAnswer) else []
    references = [item.reference_answers] if proposes and item.reference_answers else []
    return [item.id, item.question, item.response, *own, *references]
