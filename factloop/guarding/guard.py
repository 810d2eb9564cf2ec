"""Provides `StreamGuard`, which checks an answer while it is being written, and releases only checked sentences."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, Collection, Generator, Iterable, Sequence
from contextlib import aclosing, closing
from typing import Unpack, get_args

from langchain_core.messages import BaseMessage

from factloop.agents.safe.conversation import Question, question_of
from factloop.agents.safe.sentences import FUSED_WINDOW, GROUNDED_WINDOW, WindowSize
from factloop.checking.checker import DocumentOptions, FactChecker, given_checker
from factloop.checking.citing import citations_of, documents_among
from factloop.checking.views.plain import counts_in_words
from factloop.core.errors import ConfigError
from factloop.core.factuality import score_claims
from factloop.core.findings import (
    Finding,
    as_findings,
    by_gravity,
    finding_of_claim,
    finding_of_silence,
    findings_of_claims,
)
from factloop.core.records import Claim, FactualityReport, NoClaim
from factloop.core.report_warnings import engine_warnings, failure_of_all, found_warnings
from factloop.guarding.chunks import in_thread, pulled
from factloop.guarding.policy import (
    ALL_DROPPED,
    REPLACED,
    STOPPED,
    Choose,
    Marks,
    Place,
    Policy,
    SentenceAction,
    after_blank_line,
    after_dropped,
    marker_of,
)
from factloop.guarding.reading import PendingSentence, Reader, SentenceCheck
from factloop.guarding.records import GuardedSentence, GuardEvent, GuardFinished, Treatment
from factloop.reports.figures import plural
from factloop.setup.limits import Limits
from factloop.setup.sources import Sources
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.tracing import Span, outer_span
from factloop.tools.text.outline import read_outline
from factloop.tools.text.rows import cell_of, cell_with

log = logging.getLogger(__name__)

Chunk = str | BaseMessage | Sources
MAX_WAIT_S = 0.5
ALONE = WindowSize(1, 0)
_WINDOWS = {"grounded": GROUNDED_WINDOW, "fused": FUSED_WINDOW}
"""The window size for each plan that uses windows. Other plans check each sentence separately."""
GUARDED = "The answer was checked while it was being written, so each sentence was read without the text after it."


class StreamGuard:
    """Releases a streamed answer sentence by sentence, each only after its claims have been judged.

        guard = StreamGuard(FactChecker("openai:gpt-4o-mini", docs="handbook"), policy="annotate")
        async for text in guard.aguard(chunks, question="Who was ...?"):
            print(text, end="")

    Without faults, the output is identical to the input. A sentence has a fault if it was not read, or if any of its
    claims is contradicted, unsupported or unscored (see `findings.Finding`). Every claim is judged, whether or not it
    is relevant to the question. If a check fails or the model is unreachable, claims are left unscored.

    With a model, the `grounded` and `fused` plans check several sentences (a window) in one call. A window ends when it
    is full (for `grounded`, 12 sentences or 675 characters), when its first sentence has waited for `max_wait_s`, or
    when the stream ends. Otherwise, including with `max_wait_s=0`, each sentence is checked on its own as soon as the
    first word of the next one arrives. Windows are checked with the preceding text as context, and released in order.

    Fenced code counts as one sentence. A model reads it; the offline engine reports it as not read.
    """

    def __init__(
        self,
        checker: FactChecker | None = None,
        policy: SentenceAction | Choose = "annotate",
        *,
        replacement: str = REPLACED,
        message: str = STOPPED,
        marks: Marks = Marks(),  # noqa: B008 - it is frozen
        passing: Collection[Finding | str] = (),
        at_once: int = 8,
        patience_s: float | None = None,
        limits: Limits | None = None,
        max_wait_s: float = MAX_WAIT_S,
        all_dropped: str = ALL_DROPPED,
    ) -> None:
        """Creates a guard without opening connections.

        Args:
            checker: The checker. If omitted, the bundled baseline is used as the judge.
            policy: What to do with a sentence that has a fault. `annotate` adds a short mark after the sentence or
                table cell; `drop` removes the sentence together with its bullet, row or line; `replace` puts
                `replacement` in its place; `stop` ends the stream with `message`. You can also pass a function that
                takes the sentence and its claims and returns either the text to release or a `Stop`.
            replacement: The text released by `replace`.
            message: The text released by `stop`.
            marks: The marks added by `annotate`.
            passing: Findings that are allowed to pass.
            at_once: Maximum number of windows to check concurrently. The stream is not read any further ahead.
            patience_s: Maximum number of seconds for checking a window. After that, the window is unscored and the cost
                of its calls is not reported.
            limits: Limits for checking each window, in addition to those in the settings. If a limit is reached, the
                remaining claims are unscored, and the cost so far is reported.
            max_wait_s: Maximum number of seconds that the first sentence of a window may wait.
            all_dropped: The text to release at the end if `drop` removed all checked text. May be empty.

        Raises:
            ConfigError: An argument is out of range.
        """
        if not max_wait_s >= 0:
            raise ConfigError(f"max_wait_s = {max_wait_s}: must be 0 or more")
        if at_once < 1:
            raise ConfigError(f"at_once = {at_once}: must be 1 or more")
        if patience_s is not None and not patience_s > 0:
            raise ConfigError(f"patience_s = {patience_s}: must be above 0")
        self.checker = given_checker(checker)
        self._policy = Policy(policy, replacement, message, marks, as_findings(passing))
        self._at_once, self._patience_s, self._limits = at_once, patience_s, limits
        self._max_wait_s, self._all_dropped = max_wait_s, all_dropped

    async def aguard(
        self, chunks: AsyncIterable[Chunk], question: Question | None = None, **given: Unpack[DocumentOptions]
    ) -> AsyncGenerator[str, None]:
        """Like `aevents`, but yields only the pieces of text to show to the user."""
        async with aclosing(self.aevents(chunks, question, **given)) as events:
            async for event in events:
                if isinstance(event, GuardedSentence) and event.released:
                    yield event.released

    async def aevents(
        self, chunks: AsyncIterable[Chunk], question: Question | None = None, **given: Unpack[DocumentOptions]
    ) -> AsyncGenerator[GuardEvent, None]:
        """Yields each sentence once it is processed, then the report on the answer. Costs money if a model is used.

        `chunks` must yield strings or messages, or `Sources`, against which the sentences after them are judged. The
        other arguments are those of `FactChecker.acheck`. An error in the chunks' source is raised after all complete
        sentences have been released. If you stop early, close the stream (`contextlib.aclosing`) to cancel calls in
        progress.

        Raises ConfigError, if possible before anything is read. Raises DataError if a chunk is neither a string nor a
        message, or if `limits` set a budget but the price of the model is unknown.
        """
        started, limits = time.perf_counter(), self._limits
        asked, sources = question_of(question), await self.checker.sources_in(given)
        span = outer_span(self.checker.settings.tracing, "guard", {"factloop.guard.action": self._policy.name})
        empty = await self.checker.acheck("", asked, spans=[], sources=sources, limits=limits)  # may raise ConfigError
        parts: list[SentenceCheck] = []
        text, released, treatment, marker = "", "", "passed", ""
        treatments: set[Treatment] = {"passed"}
        is_told = False
        has_calls = empty.fingerprint.engine != "offline"  # otherwise, checking sentences together saves nothing
        size = _WINDOWS.get(empty.fingerprint.plan, ALONE) if self._max_wait_s and has_calls else ALONE
        reader = Reader(self.checker, asked, sources, self._at_once, self._patience_s, limits, size, self._max_wait_s)
        async with reader, aclosing(reader.read(chunks)) as sentences:
            async for pending in sentences:
                checked = (await pending.window.checked)[pending.place]
                parts.append(checked)
                left, sentence = pending.stretch.text, pending.stretch.sentence
                if treatment == "dropped":
                    left = after_dropped(left, released, marker)
                event = self._treated(pending, checked, left, text)
                marker = marker_of(left, "" if sentence is None else sentence.text)
                text, released, treatment = text + event.text, released + event.released, event.treatment
                yield event
                treatments.add(treatment)
                if treatment == "stopped":
                    break
                is_told |= bool(event.released.strip() and event.claims)
        if "dropped" in treatments and not (is_told or "stopped" in treatments) and self._all_dropped:
            said = after_blank_line(released, self._all_dropped)
            yield GuardedSentence(text="", span=(len(text),) * 2, claims=(), treatment="replaced", released=said)
            released += said
        if reader.sources is not sources:  # more arrived with the answer
            sources = reader.sources
            empty = await self.checker.acheck("", asked, spans=[], sources=sources, limits=limits)
        report = _whole_report(empty, text, parts, self.checker.settings.k, time.perf_counter() - started)
        cited = citations_of(text, report.sentences, report.claims, documents_among(sources.tools if sources else ()))
        report = report.model_copy(update={"citations": cited})
        with span:  # not around the stream, whose reader's spans would become its children
            note_decision(span, max(treatments, key=get_args(Treatment).index), report)
        yield GuardFinished(report=report, released=released, stopped="stopped" in treatments)

    def guard(
        self, chunks: Iterable[Chunk], question: Question | None = None, **given: Unpack[DocumentOptions]
    ) -> Generator[str, None, None]:
        """Synchronous version of `aguard`."""
        with closing(self.events(chunks, question, **given)) as events:
            for event in events:
                if isinstance(event, GuardedSentence) and event.released:
                    yield event.released

    def events(
        self, chunks: Iterable[Chunk], question: Question | None = None, **given: Unpack[DocumentOptions]
    ) -> Generator[GuardEvent, None, None]:
        """Synchronous version of `aevents`. The chunks are read in another thread."""
        yield from pulled(self.aevents(in_thread(chunks), question, **given))

    def _treated(self, pending: PendingSentence, checked: SentenceCheck, left: str, before: str) -> GuardedSentence:
        stretch, sentence = pending.stretch, pending.stretch.sentence
        shown = "" if sentence is None else sentence.text
        end = stretch.start + len(stretch.text)
        no_claim = None if checked.sentence is None else checked.sentence.no_claim
        silence = finding_of_silence(no_claim)
        found = findings_of_claims(checked.claims) | ({silence} if silence is not None else set())
        span = (end, end) if sentence is None else (sentence.start, sentence.end)
        cells = _cells_in_doubt(before + stretch.text, span, checked.claims) if silence is None else ()
        treatment, released = self._policy.treat(
            left, shown, checked.claims, found, is_code=stretch.is_code, cells=cells
        )
        return GuardedSentence(
            text=stretch.text,
            span=span,
            claims=checked.claims,
            no_claim=no_claim,
            findings=by_gravity(found),
            treatment=treatment,
            released=released,
        )


def note_decision(span: Span, decision: str, report: FactualityReport) -> None:
    """Records the decision, and an error if nothing could be judged, in the guard's tracing span. Unless the answer
    passed, this also logs one line, without any text from the answer."""
    if decision != "passed":
        log.info("answer %s: %s", decision.replace("_", " "), counts_in_words(report))
    span.set({"factloop.guard.decision": decision})
    if (failure := failure_of_all(report.claims)) is not None:
        span.went_wrong(str(failure.unscored_reason), failure.rationale)


def _cells_in_doubt(text: str, row: tuple[int, int], claims: Sequence[Claim]) -> tuple[Place, ...]:
    start, end = row
    faulty = [(claim, finding) for claim in claims if (finding := finding_of_claim(claim)) is not None]
    if not faulty or "|" not in text[start:end]:
        return ()
    above = next((part.above for part in read_outline(text) if (part.start, part.end) == row), "")
    said, head = text[start:end], above.rpartition("\n")[2]
    cells = [cell_of(claim.text, said, head) or cell_with(claim.judgement.wrong, said) for claim, _ in faulty]
    places = [(cell[1], finding) for cell, (_, finding) in zip(cells, faulty, strict=True) if cell is not None]
    return tuple(places) if len(places) == len(faulty) else ()


def _whole_report(
    empty: FactualityReport, text: str, parts: Sequence[SentenceCheck], ks: Sequence[int], elapsed_s: float
) -> FactualityReport:
    """`empty` is the same checker's report on empty text."""
    claims = tuple(claim for part in parts for claim in part.claims)
    sentences = tuple(part.sentence for part in parts if part.sentence is not None)
    scores, meter = score_claims(claims, ks, empty.fingerprint.repeats), UsageMeter()
    for part in parts:
        if part.usage is not None:
            meter.add(part.usage)
    fingerprint, n_code = empty.fingerprint, sum(one.no_claim is NoClaim.CODE for one in sentences)
    code = f"Code was not read (in {plural(n_code, 'place')}): the offline engine does not read code."
    settings = engine_warnings(fingerprint) if claims else ()
    found = (
        *([code] if n_code else ()),
        *found_warnings(fingerprint, claims, sentences, text),
        *dict.fromkeys(warning for part in parts for warning in part.steering),
    )
    whole = {
        **dict(empty),
        "response": text,
        "claims": claims,
        "sentences": sentences,
        **vars(scores),
        "usage": meter.snapshot(elapsed_s),
        "warnings": (*settings, *empty.warnings, GUARDED, *found),
    }
    return FactualityReport.model_validate(whole)
