"""`TrustScorer`: an answer to a question in, its TrustScore out."""

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
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from factloop.agents.trustscore.records import (
    DistractorSet,
    LongFormTrustReport,
    TrustBC,
    TrustReport,
    TrustRun,
)
from factloop.core.errors import ConfigError, DataError
from factloop.core.extras import require
from factloop.core.files.json import to_json, write_atomically
from factloop.core.given_text import check_given
from factloop.core.records import Claim, FactualityReport, Record, Verdict
from factloop.core.sync import run_blocking
from factloop.setup.caching.folder import INDEXES, cache_folder
from factloop.setup.caching.opening import tidy
from factloop.setup.chat_model import name_of_model
from factloop.setup.pace import Pace
from factloop.setup.per_loop import PerLoop
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

MOST_AT_ONCE = 64
"""Answers in work at a time where the settings set no bound on concurrency."""


class TrustScorer:
    """Scores answers by TrustScore: does the model stick to its answer, and do documents support it?

        async with TrustScorer("openai:gpt-4o-mini", judge_model="openai:gpt-4o", corpus="passages.tsv") as scorer:
            report = await scorer.ascore("Who built the first temple in Jerusalem?", "King Solomon built it.")

    `subject_model` is the model whose belief is probed, `judge_model` the one that judges passages; both take a name or
    a LangChain chat model. `corpus` takes files, folders and globs, or a search, factloop's or LangChain's. Without a
    subject there is no TrustBC, without a corpus no TrustFC. All other settings are those of `TrustSettings`, by name.
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
        """Raises ConfigError where a setting is wrong. Opens no connection; the corpus is read at the first answer.
        A search given as `corpus` replaces the paths that `settings` name.

        `subjects` are the models behind several systems, in the place of `subject_model`: an `OwnAnswer` names the one
        that is asked about it. `recording`, `recording_mode`, `pace` and `budget` are those of `FactChecker`.
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
        """The documents that TrustFC searches, read and indexed on first use. Raises ConfigError, DataError."""
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
        """The TrustScore of one response; for None, of the subject's own answer. With a model it costs money.

        `documents` came with this response, as for `FactChecker`, and are searched instead of the corpus; where they
        hold no text there is no TrustFC. `sources` are the same as one tool.

        A part that cannot be had is in the report, unscored with its reason. `run_dir` makes the run resumable: started
        again with the same arguments it pays only for what was in flight. A `meter` of one's own tells what a score
        cost that is stopped. Raises ConfigError, DataError.
        """
        item = _answer(id, question, response)
        if documents is not None and sources is not None:
            raise ConfigError("give documents or sources, not both: sources can hold documents, too")
        if documents is not None:
            tool = await self._indexes.tool_for(documents)
            sources = Sources(() if tool is None else (tool,))
        async with self._run([item], run_dir, sources) as (scoring, directory):
            report = await scoring.report(item, meter)
            _keep(directory, report)
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
        """`ascore` for code that is not asynchronous; works inside a running event loop, too (a notebook)."""
        return run_blocking(
            self.ascore(question, response, id=id, documents=documents, sources=sources, run_dir=run_dir)
        )

    async def astream(
        self, items: Iterable[QuestionAnswer], *, run_dir: str | Path | None = None
    ) -> AsyncGenerator[TrustReport | TrustRun, None]:
        """Yields the report on each answer as soon as it is done, in any order, and the whole run last.

        Otherwise as `ascore`. A caller that stops before the end closes the stream (`contextlib.aclosing`).
        """
        given, started = list(items), time.perf_counter()
        places: dict[str, int] = {}
        for place, item in enumerate(given):
            if places.setdefault(item.id, place) != place:
                raise DataError(f"two answers have the id {item.id!r}")
        async with self._run(given, run_dir) as (scoring, directory):
            reports: list[TrustReport] = []
            async with aclosing(as_they_come(given, scoring.report, at_once=self._at_once)) as done:
                async for report in done:
                    reports.append(report)
                    yield report
            ordered = sorted(reports, key=lambda report: places[report.id])
            run = _whole(ordered, time.perf_counter() - started)
            _keep(directory, run)
        yield run

    async def ascore_many(self, items: Iterable[QuestionAnswer], *, run_dir: str | Path | None = None) -> TrustRun:
        """The TrustScores of several answers, in their order. Otherwise as `ascore`."""
        async with aclosing(self.astream(items, run_dir=run_dir)) as done:
            async for item in done:
                if isinstance(item, TrustRun):
                    return item
        raise AssertionError("a run ends with its report")

    async def ascore_claims(
        self,
        factuality: FactualityReport,
        *,
        run_dir: str | Path | None = None,
        meter: UsageMeter | None = None,
    ) -> LongFormTrustReport:
        """TrustBC for each claim that SAFE found in a long response, beside SAFE's verdict.

        Every claim is a statement to be told from its distractors; the paper leaves this to future work (A.1).
        Irrelevant claims are not asked about. `meter` as in `ascore`. Raises ConfigError where there is no subject.
        """
        if self._subject is None and self.settings.subject_model is None:
            raise ConfigError("TrustBC needs a subject model (--subject-model)")
        started, meter = time.perf_counter(), meter or UsageMeter()
        topic = (factuality.prompt or "").strip()
        asked = [claim for claim in factuality.claims if _is_asked_about(claim)]
        statements = [
            QuestionAnswer(id=claim.id, question=topic or "-", response=claim.self_contained) for claim in asked
        ]
        async with self._run(statements, run_dir) as (scoring, directory):

            async def one(claim: Claim) -> tuple[str, TrustBC]:
                return claim.id, await scoring.belief_in(claim, topic, meter)

            async with aclosing(as_they_come(asked, one, at_once=self._at_once)) as done:
                found = {claim_id: result async for claim_id, result in done}
            report = scoring.long_form(factuality, found, meter, time.perf_counter() - started)
            _keep(directory, report)
            return report

    async def adistractors(
        self, question: str, response: str, *, n: int | None = None, references: Sequence[str] = ()
    ) -> DistractorSet:
        """The distractors that would be used for this response. Costs nothing, unless the judge is to propose some
        (`distractors="model"`), which is one call; it then proposes none of the `references`."""
        require("trust", "a distractor")
        from factloop.trust.distractor_sources import make_distractors

        wanted = self.settings.wanted_distractors if n is None else n
        return await make_distractors(
            self.settings, question, response, n=wanted, references=references, judge=self._judge
        )

    async def aopen(self) -> None:
        """Opens all that the settings name, which the first answer would do. Costs nothing.

        Raises ConfigError, DataError for what cannot be opened.
        """
        await self._load()
        await self._open.open(self._open_shared)

    async def aclose(self) -> None:
        """Closes connections and the cache; where scores are under way in this loop, as soon as the last of them ends.

        Returns at once. The scorer may be used again afterwards.
        """
        await self._open.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @asynccontextmanager
    async def _run(
        self, items: Sequence[QuestionAnswer], run_dir: str | Path | None, sources: Sources | None = None
    ) -> AsyncIterator[tuple[TrustScoring, RunDirectory | None]]:
        """The loop's shared session, or with a run directory one of its own whose answers are kept there."""
        for item in items:
            _check_answer(item.id, item.question, item.response)
            if isinstance(item, OwnAnswer) and item.subject not in self._subjects:
                raise ConfigError(f"there is no subject model for {item.subject!r}")
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
        """Loads in a thread: tables of names take seconds and a large corpus minutes, and the loop has other work."""
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
    """Imports what distracts and what scores, and reads tables. Raises ConfigError without the extra `trust`."""
    from factloop.trust.distractor_sources import load_tables

    load_tables()
    import_module("factloop.trust.scoring")  # of some size; imported late, it would hold up the loop


def _opened(
    setup: TrustSetup, pace: Pace, *, journal: Path | None = None, budget: Budget | None = None
) -> TrustScoring:
    from factloop.trust.scoring import open_trust_scoring

    return open_trust_scoring(setup, journal=journal, pace=pace, budget=budget)


def _is_asked_about(claim: Claim) -> bool:
    return claim.judgement.verdict is not Verdict.IRRELEVANT and claim.duplicate_of is None


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


def _keep(directory: RunDirectory | None, report: Record) -> None:
    if directory is not None:
        write_atomically(directory.report, to_json(report), private=True)


def _paths(corpus: object) -> tuple[str | Path, ...] | None:
    """The paths that a corpus is given by; None where it is a search."""
    if isinstance(corpus, str | Path):
        return (corpus,)
    if isinstance(corpus, Sequence) and all(isinstance(path, str | Path) for path in corpus):
        return tuple(corpus)
    return None


def _answer(id: str, question: str, response: str | None) -> QuestionAnswer:
    """Raises DataError. A blank response is refused here: as a `QuestionAnswer` it would pass for none at all."""
    _check_answer(str(id), question, response)
    return QuestionAnswer(id=id, question=question, response=response)


def _check_answer(id: str, question: str, response: str | None) -> None:
    check_given("id", id)
    check_given("question", question)
    if response is not None:
        check_given("response", response)


def _configuration(setup: TrustSetup, items: Sequence[QuestionAnswer]) -> dict[str, Any]:
    """The configuration, which must not change between the attempts at one run. Versions may: paid answers stay."""
    kept = setup.fingerprint.model_dump(mode="json", exclude={"versions", "factloop_version"})
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
    """What of an answer shapes its scores; reference answers do only where a model proposes distractors."""
    own = [item.subject] if isinstance(item, OwnAnswer) else []
    references = [item.reference_answers] if proposes and item.reference_answers else []
    return [item.id, item.question, item.response, *own, *references]
