"""Provides `Corrector`, which corrects contradicted claims and marks unproven claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack, get_args

from langchain_core.documents import Document

from factloop.agents.reasons import reason_of
from factloop.agents.safe.conversation import Question, question_of
from factloop.checking.check import Checking
from factloop.checking.checker import Check, DocumentOptions, FactChecker, given_checker
from factloop.checking.citing import documents_among
from factloop.core.errors import ConfigError, DataError, FactloopError
from factloop.core.records import FactualityReport
from factloop.core.sync import run_blocking
from factloop.correction.acceptance import Ruling, rule
from factloop.correction.drafts import Draft, Wording, left_alone
from factloop.correction.edits import holds_up
from factloop.correction.faults import Fault, fault_of
from factloop.correction.marks import MarkPolicy, marked
from factloop.correction.recheck import Rechecks
from factloop.correction.records import (
    Contradicted,
    Correction,
    LeftReason,
    LeftSentence,
    Rejection,
    Unscored,
    Unsupported,
)
from factloop.correction.rewriters import ModelRewriter, OfflineRewriter, Rewriter
from factloop.correction.sentences import ResponseSentence, sentences_of
from factloop.setup.limits import Limits
from factloop.tools.calls.meter import UsageMeter

MAX_ROUNDS = 2
NOTHING_WRONG = "no unsupported claims were found"
NOTHING_CONTRADICTED = "the evidence does not contradict any claims"
SAME = "the new wording is the same as the original"
NOT_READ_AGAIN = "the sentences that depend on this change could not be checked again"


class Corrector:
    """Corrects claims that the evidence contradicts, and marks unproven claims.

        async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
            correction = await Corrector(checker).acorrect(response, question="Who was ...?")
        print(correction.text)

    Only sentences with claims to correct or remove are reworded, from first to last, by a model (one call per sentence)
    or, offline, by rules. The new text is then checked and accepted only if it meets the conditions in `acceptance`. A
    change is undone if it fails the check, or if a later sentence fails because of it.

    Marks never change the wording. The correction lists everything removed or in doubt, including unmarked passages.

    The limits for a single check (deadline, calls, cost) apply to the whole correction: the first check, the rewriting
    and all later checks.
    """

    def __init__(
        self,
        checker: FactChecker | None = None,
        *,
        max_rounds: int = MAX_ROUNDS,
        contradicted: Contradicted = "mark",
        unsupported: Unsupported = "mark",
        unscored: Unscored = "auto",
    ) -> None:
        """Creates a corrector without opening connections.

        Args:
            checker: The checker. If omitted, the bundled baseline is used as the judge.
            max_rounds: Maximum number of times to rewrite and check the text.
            contradicted: What to do with contradicted claims that could not be corrected. `mark` adds "[contradicted]"
                after the sentence. `remove` removes the claims, or the whole sentence if it states nothing else.
            unsupported: What to do with claims for which no evidence was found. `mark` adds "[unverified]" after the
                sentence, `keep` leaves the claims unchanged, and `remove` removes the claims.
            unscored: What to do with passages that were not read and claims that were not judged. `mark` adds
                "[unchecked]" after them, `keep` leaves them unchanged, `auto` marks claims unless they need reading,
                and `remove` removes the claims and marks the passages that were not read.

        Raises:
            ConfigError: An argument has an invalid value.
        """
        if max_rounds < 1:
            raise ConfigError(f"max_rounds = {max_rounds}: must be at least 1")
        for name, value, known in (
            ("contradicted", contradicted, Contradicted),
            ("unsupported", unsupported, Unsupported),
            ("unscored", unscored, Unscored),
        ):
            if value not in get_args(known):
                raise ConfigError(f"{name} = {value!r}: must be one of {', '.join(get_args(known))}")
        self.checker = given_checker(checker)
        self.max_rounds = max_rounds
        self.policy = MarkPolicy(unsupported, unscored, contradicted)

    async def acorrect(
        self,
        response: str | FactualityReport,
        question: Question | None = None,
        *,
        limits: Limits | None = None,
        run_dir: str | Path | None = None,
        **given: Unpack[DocumentOptions],
    ) -> Correction:
        """Corrects a response. A model is called once per reworded sentence, and again to check the changes.

        Args:
            response: The text to correct. To skip the first check, pass the report on the text instead.
            question: The question that the response answers, as in `FactChecker.acheck`. `run_dir`, `documents` and
                `sources` also work as in that method.
            limits: Limits for the whole correction.

        Returns:
            The correction, including all failed calls.

        Raises:
            ConfigError: A setting is invalid, or the model rejects the key.
            DataError: The report is for a different question, or a document cannot be read.
        """
        asked = question_of(question)
        if isinstance(response, FactualityReport):
            if asked is not None and asked != response.prompt:
                raise DataError("the report is for a different question: pass the same question, or omit it")
            text, asked = response.response, response.prompt
        else:
            text = response
        sources = await self.checker.sources_in(given)
        async with self.checker.engaged(text, asked, limits=limits, run_dir=run_dir, sources=sources) as engaged:
            before = response if isinstance(response, FactualityReport) else await engaged(text, asked)
            meter = engaged.account()
            rewriter, documents = self._rewriter(engaged.checking, meter), documents_among(engaged.checking.setup.tools)
            course = _Course(before, engaged, rewriter, meter, self.policy, documents)
            return await course.run(self.max_rounds)

    def correct(
        self,
        response: str | FactualityReport,
        question: Question | None = None,
        *,
        limits: Limits | None = None,
        run_dir: str | Path | None = None,
        **given: Unpack[DocumentOptions],
    ) -> Correction:
        """Synchronous version of `acorrect`. Also works while an event loop is running, for example in a notebook."""
        return run_blocking(self.acorrect(response, question, limits=limits, run_dir=run_dir, **given))

    def _rewriter(self, checking: Checking, meter: UsageMeter) -> Rewriter:
        if checking.gateway is not None:
            return ModelRewriter(checking.gateway, checking.session.prompts, meter)
        return OfflineRewriter()


@dataclass(frozen=True)
class _Attempt:
    draft: Draft
    after: FactualityReport
    ruling: Ruling


class _Course:
    def __init__(
        self,
        before: FactualityReport,
        check: Check,
        rewriter: Rewriter,
        meter: UsageMeter,
        policy: MarkPolicy,
        documents: Sequence[Document] | None = None,
    ) -> None:
        self._before, self._rewriter, self._meter, self._policy = before, rewriter, meter, policy
        self._rechecks = Rechecks(before, check, documents)

    async def run(self, max_rounds: int) -> Correction:
        started, rounds = time.perf_counter(), 0
        sentences, placeless = sentences_of(self._before, self._policy.unsupported, self._policy.unscored)
        draft = await self._first_draft(sentences)
        tried: _Attempt | None = None
        n_to_read = max_rounds
        while draft.wordings:
            after = await self._rechecks.report(draft)
            self._meter.add(after.usage)
            tried = _Attempt(draft, after, rule(self._before, after, draft.fates))
            rounds += n_to_read > 0
            n_to_read = 0 if tried.ruling.broke_down else max(n_to_read - 1, 0)
            better = self._better(tried, may_read=n_to_read > 0)
            if better is None:
                break
            draft = better
        done = draft if tried is None else tried.draft
        if tried is not None and tried.ruling.rejected is not None:
            done = done.without(tried.ruling.failed, removing=False)
            done = done.without(dict.fromkeys(done.wordings, tried.ruling.why), removing=False)
        homeless = [left_alone(one, LeftReason.NO_PLACE) for one in placeless if one.wrong]
        rejected, why = self._decision(tried, n_faulty=len(done.left) + len(homeless))
        final = None if tried is None or rejected is not None else tried.after
        text, doubts = marked(self._before if final is None else final, self._policy)
        return Correction(
            text=text,
            **vars(self._policy),
            accepted=rejected is None,
            rejected=rejected,
            why=why,
            before=self._before,
            rewritten=None if final is None else done.text,
            changes=done.changes,
            left=tuple(sorted([*done.left.values(), *homeless], key=lambda one: one.span)),
            doubts=doubts,
            after=final,
            rounds=rounds,
            rewriter=self._rewriter.name,
            prompts=self._rewriter.hashes,
            usage=self._meter.snapshot(time.perf_counter() - started),
        )

    def _better(self, tried: _Attempt, *, may_read: bool) -> Draft | None:
        """Returns None if nothing can be undone or no changes remain. If `may_read` is False, also undoes unchecked
        changes."""
        ruling = tried.ruling
        better = tried.draft.without(ruling.failed, removing=may_read and self._policy.contradicted == "remove")
        while not may_read and better.wordings and (unread := self._rechecks.unread(better)):
            known = better.without(dict.fromkeys(sorted(unread), NOT_READ_AGAIN), removing=False)
            if known == better:
                return None
            better = known
        return better if ruling.rejected is not None and better != tried.draft and better.wordings else None

    def _decision(self, tried: _Attempt | None, n_faulty: int) -> tuple[Rejection | None, str]:
        if tried is not None:
            return tried.ruling.rejected, tried.ruling.why
        if not n_faulty:
            is_clean = not self._before.counts.not_supported
            return Rejection.NOTHING_TO_CORRECT, NOTHING_WRONG if is_clean else NOTHING_CONTRADICTED
        noun = "the faulty sentence" if n_faulty == 1 else f"the {n_faulty} faulty sentences"
        return Rejection.NOTHING_CHANGED, f"{noun} could not be changed"

    async def _first_draft(self, sentences: Sequence[ResponseSentence]) -> Draft:
        """Rewords the sentences in order, because the rewriter sees the new text before each sentence."""
        by_id = {claim.id: claim for claim in self._before.claims}
        draft = Draft(self._before.response, sentences, {})
        for number, sentence in enumerate(sentences):
            if not sentence.wrong:
                continue
            outcome = await self._outcome(sentence, partial(fault_of, self._before, sentence, by_id, draft))
            if isinstance(outcome, Wording):
                draft = replace(draft, wordings={**draft.wordings, number: outcome})
            else:
                draft = replace(draft, left={**draft.left, number: outcome})
        return draft

    async def _outcome(self, sentence: ResponseSentence, fault: Callable[[], Fault]) -> Wording | LeftSentence:
        if holds_up(self._before.response, (sentence.start, sentence.end)):
            return left_alone(sentence, LeftReason.LAYOUT)
        if not sentence.kept and not sentence.contradicted:
            return Wording("")
        shown = fault()
        try:
            wording = await self._rewriter.reword(shown)
        except ConfigError:
            raise
        except FactloopError as error:
            return left_alone(sentence, LeftReason.REWRITE_FAILED, f"{reason_of(error)}: {error}")
        if wording.text == shown.text:
            return left_alone(sentence, LeftReason.REWRITE_FAILED, SAME)
        if sentence.contradicted and wording.takes_out and self._policy.contradicted == "mark":
            return left_alone(sentence, LeftReason.UNMENDABLE)
        return wording
