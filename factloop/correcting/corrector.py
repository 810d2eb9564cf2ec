"""`Corrector`: a response in, and out the same response without what nothing supports, checked again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from factloop.agents.reasons import reason_of
from factloop.checker import Check, FactChecker
from factloop.correcting.acceptance import Ruling, rule
from factloop.correcting.drafts import Draft, Wording, left_alone
from factloop.correcting.edits import holds_up
from factloop.correcting.offline import OfflineRewriter
from factloop.correcting.rewriters import ModelRewriter, Rewriter
from factloop.correcting.sentences import Sentence, fault_of, sentences_of
from factloop.correction_records import Correction, Left, LeftReason, Rejection
from factloop.engine import Engine
from factloop.errors import ConfigError, DataError, FactloopError
from factloop.local import build_embedder
from factloop.records import Claim, FactualityReport
from factloop.sources import Sources
from factloop.sync import run_blocking
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together

MAX_ROUNDS = 2
NOTHING_WRONG = "no claim is found to be not supported"
SAME = "the new wording is the old one"


class Corrector:
    """Rewrites responses so that what is not supported is removed, or mended from the evidence that says otherwise.

        async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
            correction = await Corrector(checker).acorrect(response, prompt="Who was ...?")
        print(correction.text)

    Only sentences with a claim that is not supported are touched; all others stay byte for byte. A sentence of which
    nothing is to be kept, and that no evidence contradicts, is removed; any other is worded anew: with a model by one
    call each, offline by rules (`offline`). The rewritten text is checked again, and taken only if it is better by the
    rule of `acceptance`. A change that does not stand that check is undone in a second round, or becomes a removal.
    Claims without a verdict are left alone. All calls share limits, cache and budget of the checker.
    """

    def __init__(self, checker: FactChecker | None = None, *, max_rounds: int = MAX_ROUNDS) -> None:
        """Without a checker the offline engine judges. Raises ConfigError."""
        if max_rounds < 1:
            raise ConfigError(f"max_rounds = {max_rounds}: at least one round is needed")
        self.checker = checker if checker is not None else FactChecker()
        self.max_rounds = max_rounds

    async def acorrect(
        self,
        response: str | FactualityReport,
        prompt: str | None = None,
        *,
        sources: Sources | None = None,
        run_dir: str | Path | None = None,
    ) -> Correction:
        """The correction of a response, or of what a report says of one (which is then not checked a first time).

        `sources` and `run_dir` as for `FactChecker.acheck`. With a model it costs a call for each faulty sentence and
        a check for each round. A call that fails is in the correction by name. Raises ConfigError, DataError.
        """
        if isinstance(response, FactualityReport):
            if prompt is not None and prompt != response.prompt:
                raise DataError("the report was made for another prompt")
            text, prompt = response.response, response.prompt
        else:
            text = response
        async with self.checker.engaged(text, prompt, sources=sources, run_dir=run_dir) as (engine, check):
            before = response if isinstance(response, FactualityReport) else await check(text, prompt)
            meter = UsageMeter()
            return await _Course(before, check, self._rewriter(engine, meter), meter).run(self.max_rounds)

    def correct(
        self,
        response: str | FactualityReport,
        prompt: str | None = None,
        *,
        sources: Sources | None = None,
        run_dir: str | Path | None = None,
    ) -> Correction:
        """`acorrect` for code that is not asynchronous; works inside a running event loop, too (a notebook)."""
        return run_blocking(self.acorrect(response, prompt, sources=sources, run_dir=run_dir))

    def _rewriter(self, engine: Engine, meter: UsageMeter) -> Rewriter:
        if engine.gateway is not None:
            return ModelRewriter(engine.gateway, engine.prompts, meter)
        from factloop.tools.verifiers.lexical import LexicalVerifier

        return OfflineRewriter(LexicalVerifier(build_embedder(self.checker.settings)))


@dataclass(frozen=True)
class _Tried:
    """A draft as it was checked."""

    draft: Draft
    after: FactualityReport
    ruling: Ruling


class _Course:
    """The correction of one response, from its first report to the last round."""

    def __init__(self, before: FactualityReport, check: Check, rewriter: Rewriter, meter: UsageMeter) -> None:
        self._before, self._check, self._rewriter, self._meter = before, check, rewriter, meter

    async def run(self, max_rounds: int) -> Correction:
        started, rounds = time.perf_counter(), 0
        sentences, placeless = sentences_of(self._before)
        draft = await self._first_draft(sentences)
        tried: _Tried | None = None
        while draft.wordings and rounds < max_rounds:
            rounds += 1
            tried = await self._try(draft)
            better = draft.without(tried.ruling.failed)
            if tried.ruling.rejected is None or better == draft:
                break
            draft = better
        done = draft if tried is None else tried.draft
        rejected, why = self._decision(tried, n_faulty=len(done.left) + len(placeless))
        rewritten = done.text if tried is not None else None
        return Correction(
            text=self._before.response if rejected is not None or rewritten is None else rewritten,
            accepted=rejected is None,
            rejected=rejected,
            why=why,
            before=self._before,
            rewritten=rewritten,
            changes=done.changes if tried is not None else (),
            left=_in_order([*done.left.values(), *(_nowhere(one) for one in placeless if one.wrong)]),
            after=tried.after if tried is not None else None,
            rounds=rounds,
            rewriter=self._rewriter.name,
            prompts=self._rewriter.hashes,
            usage=self._meter.snapshot(time.perf_counter() - started),
        )

    def _decision(self, tried: _Tried | None, n_faulty: int) -> tuple[Rejection | None, str]:
        if tried is not None:
            return tried.ruling.rejected, tried.ruling.why
        if not self._before.counts.not_supported:
            return Rejection.NOTHING_TO_CORRECT, NOTHING_WRONG
        noun = "the faulty sentence" if n_faulty == 1 else f"none of {n_faulty} faulty sentences"
        return Rejection.NOTHING_CHANGED, f"{noun} could {'not ' if n_faulty == 1 else ''}be changed"

    async def _try(self, draft: Draft) -> _Tried:
        after = await self._check(draft.text, self._before.prompt)
        self._meter.add(after.usage)
        return _Tried(draft, after, rule(self._before, after, draft.fates))

    async def _first_draft(self, sentences: Sequence[Sentence]) -> Draft:
        """A wording for each faulty sentence, all asked for at once; those that got none are left, with the reason."""
        by_id = {claim.id: claim for claim in self._before.claims}
        faulty = {number: one for number, one in enumerate(sentences) if one.wrong}
        worded = await together(self._outcome(one, by_id) for one in faulty.values())
        outcomes = dict(zip(faulty, worded, strict=True))
        return Draft(
            response=self._before.response,
            sentences=sentences,
            wordings={number: one for number, one in outcomes.items() if isinstance(one, Wording)},
            left={number: one for number, one in outcomes.items() if isinstance(one, Left)},
        )

    async def _outcome(self, sentence: Sentence, by_id: Mapping[str, Claim]) -> Wording | Left:
        if holds_up(self._before.response, (sentence.start, sentence.end)):
            return left_alone(sentence, LeftReason.LAYOUT)
        if not sentence.kept and not sentence.is_contradicted:
            return Wording("")
        fault = fault_of(self._before, sentence, by_id)
        try:
            wording = await self._rewriter.reword(fault)
        except ConfigError:
            raise
        except FactloopError as error:
            return left_alone(sentence, LeftReason.REWRITE_FAILED, f"{reason_of(error)}: {error}")
        return wording if wording.text != fault.text else left_alone(sentence, LeftReason.REWRITE_FAILED, SAME)


def _nowhere(sentence: Sentence) -> Left:
    return left_alone(sentence, LeftReason.NO_PLACE)


def _in_order(left: Sequence[Left]) -> tuple[Left, ...]:
    return tuple(sorted(left, key=lambda one: one.span))
